// Users run flows as API keys do.
import assert from 'node:assert/strict';
import { code, passthrough } from '../../blocks.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { answer, callTools, type FakeModelServer, startFakeModelServer } from '../../fakes/model-server.ts';
import { type Answer, startWeir, type Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { asking, resumeOf, toolCall, weather } from './tool-calls-harness.ts';

const PER_MINUTE = 40;

describe('runs of users', () => {
  let models: FakeModelServer;
  let provider: IdentityProvider;
  let weir: Weir;
  let acme: Organization;
  before(async () => {
    models = await startFakeModelServer();
    provider = await startIdentityProvider();
    const env = { OPENAI_BASE_URL: models.provider.baseUrl, WEIR_RATE_LIMIT_PER_KEY: String(PER_MINUTE) };
    weir = await startWeir({ env: { ...provider.env, ...env } });
  });
  beforeEach(async () => {
    acme = await createOrganization(weir, provider);
  });
  after(async () => {
    await weir.stop();
    await provider.close();
    await models.close();
  });

  const execute = (flow: string, key: string, body: object, headers = {}): Promise<Answer> =>
    weir.call('POST', `${flow}/execute`, { key, body, headers });

  it('go on with what an API key paused, each call with the model key it sends', async () => {
    const flow = await weir.createFlow(acme, [asking('ask')]);
    models.will(callTools([toolCall('c1')]), answer('done'));
    const first = await execute(
      flow,
      acme.key,
      { message: 'm', tools: [weather] },
      { 'x-weir-model-key': 'openai=sk-of-the-call' },
    );
    assert.equal(first.body.status, 'tool_calls_required');
    const { status, body } = await execute(flow, acme.token.member, resumeOf(first.body));
    assert.deepEqual([status, body.result], [200, 'done']);
    assert.deepEqual(
      models.calls.map(({ headers }) => headers.authorization),
      ['Bearer sk-of-the-call', 'Bearer sk-first'],
    );
  });

  it('keep the environment of the run that they repeat, alone and in bulk', async () => {
    const flow = await weir.createFlow(acme, [code('a', 'throw new Error("no");')]);
    const { executionId } = (await execute(flow, acme.key, { message: 'm' })).body;
    await weir.db
      .updateTable('run')
      .set({ environment: 'test' })
      .where('execution_id', '=', executionId)
      .execute();
    const asUser = (path: string, body = {}) => weir.call('POST', path, { key: acme.token.member, body });
    const started = [
      (await asUser(`${flow}/jobs/${executionId}/rerun`)).body,
      (await asUser(`${flow}/jobs/${executionId}/retry`)).body,
    ];
    for (const run of started) await weir.finish(flow, run.executionId, acme.key);
    const filter = { flow: flow.split('/')[2], environment: 'test' };
    const bulk = await asUser(`/projects/${acme.projectId}/runs/retry`, filter);
    started.push(...bulk.body.retried);
    assert.equal(started.length, 3);
    for (const run of started)
      assert.equal((await weir.finish(flow, run.executionId, acme.key)).body.environment, 'test');
  });

  it('share Idempotency-Keys with the API keys of the project, and with no other project', async () => {
    const flow = await weir.createFlow(acme, [passthrough('a')]);
    const key = { 'idempotency-key': 'once' };
    const first = await execute(flow, acme.key, { message: 'm' }, key);
    const again = await execute(flow, acme.token.member, { message: 'm' }, key);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(again.body.executionId, first.body.executionId);
    assert.equal((await execute(flow, acme.token.member, { message: 'n' }, key)).status, 409);
    const other = await createOrganization(weir, provider);
    const theirs = await weir.createFlow(other, [passthrough('a')]);
    const fresh = await execute(theirs, other.token.member, { message: 'm' }, key);
    assert.deepEqual([fresh.status, fresh.headers.get('idempotent-replayed')], [200, null]);
  });

  it('count for the user, not for the API keys: 429 RATE_LIMITED', async () => {
    const flow = await weir.createFlow(acme, [passthrough('a')]);
    const poll = (key: string) => weir.call('GET', `${flow}/runs`, { key });
    const metrics = captureMetrics();
    let refused = await poll(acme.token.member);
    while (refused.status === 200) refused = await poll(acme.token.member);
    assert.deepEqual([refused.status, refused.body.detail.code], [429, 'RATE_LIMITED']);
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
    assert.equal((await metrics.read('weir.rate_limit.refusals'))['limit=user'], 1);
    metrics.stop();
    assert.equal((await poll(acme.key)).status, 200);
    assert.equal((await poll(acme.token.admin)).status, 200);
  });
});
