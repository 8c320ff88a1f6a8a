// Answers that are many bytes are in hand until they are read, whatever they are about.
import assert from 'node:assert/strict';
import { loadDrafts } from '../../../db/flows/flow-designs.ts';
import { insertFlow } from '../../../db/flows/flows.ts';
import { REQUEST_BYTES_EACH } from '../../../platform/limits/gates.ts';
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
    waitsForBytes(management.weir.httpGates, management.acme.organizationId, ask, meanwhile);

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
    await waitUntil(() => management.weir.httpGates.answers.count().weight === 0);
  });

  it(`that is made is refused at once where ${WAITING} others of its organization wait`, async () => {
    await describeMany();
    const { answers } = management.weir.httpGates;
    const permit = await answers.acquire(management.acme.organizationId, { weight: REQUEST_BYTES_EACH });
    const read = () => send('GET', '/flows?limit=200');
    const waiting = Array.from({ length: WAITING }, read);
    await waitUntil(() => answers.count().queued === WAITING);
    const refused = await read();
    assert.deepEqual([refused.status, refused.body.detail?.code], [429, 'RATE_LIMITED']);
    permit.release();
    for (const { status } of await Promise.all(waiting)) assert.equal(status, 200);
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
