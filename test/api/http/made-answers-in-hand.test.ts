// Answers that are many bytes are in hand until they are read, whatever they are about.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { loadDrafts } from '../../../db/flows/flow-designs.ts';
import { insertFlow } from '../../../db/flows/flows.ts';
import { REQUESTS_SHARE_BYTES } from '../../../platform/large-values/large-values.ts';
import { LARGE_BYTES } from '../../../platform/limits/large-work.ts';
import { passthrough } from '../../blocks.ts';
import type { Answer } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';
import { useManagement } from '../organizations/management-harness.ts';
import { waitsForBytes } from './waits-for-bytes.ts';

const LARGE = 'x'.repeat(100_000);
/** As many as may wait when they are made. */
const WAITING = 20;

describe('a large answer', () => {
  const { management } = useManagement();
  const send = (method: string, path: string, body?: unknown): Promise<Answer> => {
    const { projectId, token } = management.acme;
    return management.weir.call(method, `/projects/${projectId}${path}`, { key: token.member, body });
  };
  const ofFlow = (path: string) => `/flows/${management.acme.flowId}${path}`;
  const wait = (ask: () => Promise<Answer>, meanwhile?: () => Promise<unknown>) =>
    waitsForBytes(management.weir.largeValues, management.acme.organizationId, ask, meanwhile);

  /** Makes flows whose list is large. */
  async function describeMany(): Promise<void> {
    for (let index = 0; index < 50; index += 1)
      await insertFlow(management.weir.db, {
        ...{ projectId: management.acme.projectId, slug: `flow-${index}`, name: 'Flow' },
        description: 'x'.repeat(2_000),
      });
  }

  it('that is a list waits for the share of its organization, and is given back when it is read', async () => {
    await describeMany();
    const { status, headers, body } = await wait(() => send('GET', '/flows?limit=200'));
    assert.deepEqual([status, body.flows.length], [200, 51]);
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
    await waitUntil(() => management.weir.largeValues.answers.countHeld() === 0);
  });

  it(`that is made is refused at once where ${WAITING} others of its organization wait`, async () => {
    await describeMany();
    const { answers } = management.weir.largeValues;
    const giveBack = await answers.take(management.acme.organizationId, REQUESTS_SHARE_BYTES);
    const read = () => send('GET', '/flows?limit=200');
    const waiting = Array.from({ length: WAITING }, read);
    await waitUntil(() => answers.countWaiting() === WAITING);
    const refused = await read();
    assert.deepEqual([refused.status, refused.body.detail?.code], [429, 'RATE_LIMITED']);
    giveBack();
    for (const { status } of await Promise.all(waiting)) assert.equal(status, 200);
  });

  /** Waits for a turn at large work, which one process has one at a time. */
  const takeTurn = async () => (await management.weir.largeValues.work.take('another', LARGE_BYTES))();

  it('to a large write holds no turn at large work while it waits', async () => {
    const { projectId, token } = management.acme;
    const send = (method: string, path: string, body: unknown) =>
      management.weir.call(method, `/projects/${projectId}${ofFlow(path)}`, {
        ...{ key: token.member, body },
        headers: { 'if-match': '*' },
      });
    const steps = Array.from({ length: 6 }, (_, at) =>
      passthrough(`s${at}`, { prompt: 'x'.repeat(200_000) }),
    );
    const take = mock.method(management.weir.largeValues.work, 'take');
    const turns = () => take.mock.calls.filter(({ arguments: [owner] }) => owner !== 'another').length;
    assert.equal((await wait(() => send('PUT', '/draft', { steps }), takeTurn)).status, 200);
    // To parse the body, to check it, and to write it and the answer.
    assert.equal(turns(), 3);
    take.mock.restore();
    const parameters = { list: Array(100_000).fill(1) };
    const testCase = { name: 'many', message: 'm', parameters, expectation: { type: 'equals', value: 1 } };
    const { status, body } = await wait(() => send('POST', '/test-cases', testCase), takeTurn);
    assert.equal(status, 201);
    const path = `/test-cases/${body.test_case_id}`;
    assert.equal((await wait(() => send('PUT', path, testCase), takeTurn)).status, 200);
    await send('DELETE', path, undefined);
  });

  it('to a write of a draft waits before that is written', async () => {
    const { db } = management.weir;
    const { flowId, projectId } = management.acme;
    const steps = [passthrough('a', { prompt: LARGE })];
    const put = () => {
      const headers = { 'if-match': '*' };
      const { token } = management.acme;
      const url = `/projects/${projectId}${ofFlow('/draft')}`;
      return management.weir.call('PUT', url, { key: token.member, body: { steps }, headers });
    };
    const before = (await loadDrafts(db, [flowId])).get(flowId);
    const { status, body } = await wait(put, async () => {
      assert.deepEqual((await loadDrafts(db, [flowId])).get(flowId), before);
    });
    assert.deepEqual([status, body.steps], [200, steps]);
    assert.deepEqual((await loadDrafts(db, [flowId])).get(flowId), { steps });
  });

  it('to a write of a test case waits before that is written', async () => {
    const { db } = management.weir;
    const names = async () => {
      const { flowId } = management.acme;
      const cases = db.selectFrom('test_case').select('name').where('flow_id', '=', flowId);
      return (await cases.execute()).map(({ name }) => name);
    };
    const before = await names();
    const testCase = { name: 'new', message: LARGE, expectation: { type: 'equals', value: 'm' } };
    const { status, body } = await wait(
      () => send('POST', ofFlow('/test-cases'), testCase),
      async () => assert.deepEqual(await names(), before),
    );
    assert.equal(status, 201);
    const path = ofFlow(`/test-cases/${body.test_case_id}`);
    assert.equal((await wait(() => send('GET', path))).body.message, LARGE);
    const renamed = await wait(
      () => send('PUT', path, { ...testCase, name: 'renamed' }),
      async () => assert((await names()).includes('new')),
    );
    assert.equal(renamed.body.name, 'renamed');
  });
});
