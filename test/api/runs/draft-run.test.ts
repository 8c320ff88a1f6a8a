// Runs of drafts, started by the users who edit them.
import assert from 'node:assert/strict';
import { updateDraft } from '../../../db/flows/flows.ts';
import { code } from '../../blocks.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { createScopedKey } from '../../scoped-key.ts';

describe('POST …/flows/{flow_id}/draft/runs', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let acme: Organization;
  before(async () => {
    provider = await startIdentityProvider();
    weir = await startWeir({ env: provider.env });
  });
  beforeEach(async () => {
    acme = await createOrganization(weir, provider);
    await setDraft('return `Hello, ${message}`;');
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });

  const setDraft = (source: string) => updateDraft(weir.db, acme.flowId, { steps: [code('greet', source)] });
  const path = () => `${acme.organization}/project/flow`;
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    weir.call(method, `/projects/${acme.projectId}/flows/${acme.flowId}${path}`, {
      key: acme.token.member,
      body,
      headers,
    });
  const start = async (headers: Record<string, string> = {}) => {
    const answer = await send('POST', '/draft/runs', { message: 'Ada' }, headers);
    assert.equal(answer.status, 202, JSON.stringify(answer.body));
    return answer.body;
  };
  const finish = async (executionId: string) =>
    (await weir.finish(path(), executionId, acme.token.member)).body;

  it('runs the draft as it is then, as version 0 in the environment test', async () => {
    const started = await start();
    assert.deepEqual([started.status, started.blockCount, started.flowId], ['started', 1, acme.flowId]);
    await setDraft('return 2;');
    const run = await finish(started.executionId);
    assert.deepEqual(
      [run.status, run.result, run.version, run.mode, run.environment, run.keyId],
      ['completed', 'Hello, Ada', 0, 'jobs', 'test', null],
    );
    assert.equal((await finish((await start()).executionId)).result, 2);
  });

  it('runs only the draft that If-Match names: 412 when it is another by now', async () => {
    const etag = (await send('GET', '/draft')).headers.get('etag') ?? '';
    await setDraft('return 2;');
    const refused = await send('POST', '/draft/runs', { message: 'Ada' }, { 'if-match': etag });
    assert.deepEqual([refused.status, refused.body.detail.code], [412, 'PRECONDITION_FAILED']);
    await start({ 'if-match': refused.body.detail.etag });
  });

  it('refuses a draft that is not complete, with its problems', async () => {
    await setDraft('return {');
    const { status, body } = await send('POST', '/draft/runs', { message: 'Ada' });
    assert.deepEqual([status, body.detail.code], [400, 'INVALID_TREE']);
    assert.equal(body.detail.problems[0].path, 'steps[0].prompt');
  });

  it('starts one run for an Idempotency-Key, and refuses what a job refuses', async () => {
    const headers = { 'idempotency-key': 'once' };
    assert.equal((await start(headers)).executionId, (await start(headers)).executionId);
    for (const [body, status] of [
      [{}, 422],
      [{ message: 'Ada', mesage: 1 }, 422],
      [{ message: 'Ada', tools: [] }, 405],
      [{ message: 'Ada', block_overrides: { nowhere: { prompt: 'x' } } }, 422],
    ] as const)
      assert.equal((await send('POST', '/draft/runs', body)).status, status, JSON.stringify(body));
  });

  it('needs credits', async () => {
    await weir.db
      .updateTable('organization')
      .set({ balance_microcredits: 0 })
      .where('id', '=', acme.organizationId)
      .execute();
    assert.equal((await send('POST', '/draft/runs', { message: 'Ada' })).status, 402);
  });

  it('names the API key that started it; a run of a draft is not repeated', async () => {
    const { key, keyId } = await createScopedKey(weir, acme.projectId, 'deploy', 'run');
    const draftRuns = `/projects/${acme.projectId}/flows/${acme.flowId}/draft/runs`;
    const { body } = await weir.call('POST', draftRuns, { key, body: { message: 'Ada' } });
    const run = await finish(body.executionId);
    assert.deepEqual([run.keyId, run.environment], [keyId, 'test']);
    const again = await weir.call('POST', `${path()}/jobs/${run.executionId}/rerun`, { key });
    assert.deepEqual([again.status, again.body.detail.code], [400, 'INVALID_VERSION']);
  });

  it('is the only way to run a draft: v0 is refused for users too', async () => {
    for (const [endpoint, body] of [
      ['execute', { message: 'x' }],
      ['jobs', { message: 'x' }],
      ['step', { executionId: null, stepIndex: 0, message: 'x' }],
    ] as const) {
      const answer = await weir.call('POST', `${path()}/v0/${endpoint}`, { key: acme.token.owner, body });
      assert.deepEqual([answer.status, answer.body.detail.code], [400, 'INVALID_VERSION'], endpoint);
    }
  });
});
