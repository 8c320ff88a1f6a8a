// A draft is run as published versions are, by those who may edit it: POST …/draft/execute, …/draft/runs and …/draft/step.
import assert from 'node:assert/strict';
import { SMALL_BYTES } from '../../../platform/limits/gates.ts';
import { code, passthrough } from '../../blocks.ts';
import { duringTransaction } from '../../db/during-transaction.ts';
import { answer, hang } from '../../fakes/model-server.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { waitsForBytes } from '../http/waits-for-bytes.ts';
import { ASK, collect, type DraftWeir, startDraftWeir } from './draft-harness.ts';

describe('a run of the draft', () => {
  let weir: DraftWeir;
  before(async () => {
    weir = await startDraftWeir();
  });
  after(() => weir.stop());

  const flowIdOf = (draft: string) => draft.split('/').at(-2) ?? '';
  /** The runs of the flow that were recorded in the audit log, and by whom. */
  const recorded = async (draft: string) => {
    const entries = await weir.db
      .selectFrom('audit_entry')
      .select(['actor', 'resource_id', 'details'])
      .where('action', '=', 'run.start')
      .orderBy('created_at')
      .execute();
    const ofFlow = entries.filter(
      ({ details }) => (details as { flow_id: string }).flow_id === flowIdOf(draft),
    );
    for (const { actor } of ofFlow) assert.equal(actor, `api_key/${weir.keyId}`);
    return ofFlow.map(({ resource_id }) => resource_id);
  };
  const countSnapshots = async (draft: string) => {
    const rows = weir.db.selectFrom('flow_version').select('id').where('flow_id', '=', flowIdOf(draft));
    return (await rows.execute()).length;
  };

  it('needs no version: it is of version 0 and the environment test, and is found among the runs of the flow', async () => {
    const { draft, flow } = await weir.createDraft([
      code('greet', 'return `Hello, ${message} ${parameters.n}`;'),
    ]);
    const { status, body } = await weir.post(`${draft}/execute`, { message: 'Ada', parameters: { n: 2 } });
    assert.equal(status, 200);
    assert.deepEqual([body.status, body.result, body.blockCount], ['completed', 'Hello, Ada 2', 1]);
    const { body: run } = await weir.call('GET', `${flow}/jobs/${body.executionId}`, { key: weir.key });
    assert.deepEqual([run.version, run.environment, run.mode, run.keyId], [0, 'test', 'execute', weir.keyId]);
    await weir.publish(draft);
    const { executionId: published } = (await weir.post(`${flow}/execute`, { message: '' })).body;
    for (const [query, expected] of [
      ['environment=test', [body.executionId]],
      ['version=0', [body.executionId]],
      [`version=0&key=${weir.keyId}`, [body.executionId]],
      ['version=1', [published]],
    ] as const) {
      const { runs } = (await weir.call('GET', `${flow}/runs?${query}`, { key: weir.key })).body;
      const ids = runs.map(({ executionId }: { executionId: string }) => executionId);
      assert.deepEqual(ids, expected, query);
    }
  });

  it('reads a large draft once its organization may hold it', async () => {
    const { draft } = await weir.createDraft([passthrough('a', { prompt: 'x'.repeat(SMALL_BYTES) })]);
    const run = () => weir.post(`${draft}/execute`, { message: 'm' }, { 'if-match': '"another"' });
    assert.equal((await waitsForBytes(weir.httpGates, weir.tenant.organizationId, run)).status, 412);
  });

  it('runs the draft as it was when it began, and the next one what was edited since', async () => {
    const { draft, flow } = await weir.createDraft([code('one', 'return 1;')]);
    const first = await weir.post(`${draft}/runs`, { message: '' });
    assert.deepEqual(
      [first.status, first.body.status, first.body.blockCount, first.body.flowId],
      [202, 'started', 1, flowIdOf(draft)],
    );
    await weir.edit(draft, [code('one', 'return 2;')]);
    const second = await weir.post(`${draft}/runs`, { message: '' });
    for (const [{ body }, result] of [[first, 1] as const, [second, 2] as const])
      assert.equal((await weir.finish(flow, body.executionId, weir.key)).body.result, result);
  });

  it('begins although what was stored of the draft is deleted at that moment', async () => {
    const { draft } = await weir.createDraft([code('one', 'return 1;')]);
    const run = () => weir.post(`${draft}/execute`, { message: '' });
    const { executionId } = (await run()).body;
    const { status, body } = await duringTransaction(
      weir.db,
      async (tx) => {
        await tx.deleteFrom('block_run').where('execution_id', '=', executionId).execute();
        await tx.deleteFrom('run').where('execution_id', '=', executionId).execute();
        await tx.deleteFrom('flow_version').where('flow_id', '=', flowIdOf(draft)).execute();
      },
      run,
    );
    assert.deepEqual([status, body.result, await countSnapshots(draft)], [200, 1, 1], JSON.stringify(body));
  });

  it('is followed, read and cancelled at the paths of the flow’s runs', async () => {
    const { draft, flow } = await weir.createDraft([passthrough('one')]);
    const { executionId } = (await weir.post(`${draft}/runs`, { message: 'm' })).body;
    const events = await fetch(`${weir.url}/api/v1/seq/${flow}/jobs/${executionId}/events`, {
      headers: { authorization: `Bearer ${weir.key}` },
    });
    const last = (await collect(events)).at(-1);
    assert.deepEqual([last?.event, last?.data.version], ['run_completed', 0]);
    assert.equal((await weir.post(`${flow}/jobs/${executionId}/cancel`, {})).status, 200);
  });

  it('is recorded in the audit log once, also when its caller hangs up before it has ended', async () => {
    const { draft, flow } = await weir.createDraft([ASK]);
    weir.models.will(hang);
    const asked = weir.models.nextCall();
    const leaving = new AbortController();
    const left = fetch(`${weir.url}/api/v1${draft}/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${weir.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'm' }),
      signal: leaving.signal,
    });
    left.catch(() => undefined);
    await asked;
    leaving.abort();
    const [executionId, ...others] = await recorded(draft);
    assert.deepEqual(others, []);
    assert.equal((await weir.post(`${flow}/jobs/${executionId}/cancel`, {})).status, 202);
  });

  it('is recorded by its first call, not by a resume, a later step or a request that is repeated', async () => {
    const { draft } = await weir.createDraft([ASK]);
    const resume = await weir.pause(draft);
    weir.models.will(answer('done'));
    assert.equal((await weir.post(`${draft}/execute`, resume)).status, 200);
    assert.equal((await recorded(draft)).length, 1);

    await weir.edit(draft, [passthrough('one'), passthrough('two')]);
    const [started] = await weir.step(draft, { executionId: null, stepIndex: 0, message: 'm' });
    const { executionId } = started?.data ?? {};
    await weir.step(draft, { executionId, stepIndex: 1, accumulatedOutputs: { one: 'm' } });
    const headers = { 'idempotency-key': 'recorded-once' };
    const job = await weir.post(`${draft}/runs`, { message: 'm' }, headers);
    assert.equal((await weir.post(`${draft}/runs`, { message: 'm' }, headers)).status, 202);
    assert.deepEqual((await recorded(draft)).slice(1), [executionId, job.body.executionId]);
  });

  it('is sent once with an Idempotency-Key, which stands for no run of a version', async () => {
    const { draft, flow } = await weir.createDraft([passthrough('one')]);
    const headers = { 'idempotency-key': 'one-try' };
    const send = (path: string) => weir.post(path, { message: 'm' }, headers);
    const [first, again] = [await send(`${draft}/runs`), await send(`${draft}/runs`)];
    assert.equal(again.body.executionId, first.body.executionId);
    await weir.publish(draft);
    const version = await send(`${flow}/v1/jobs`);
    assert.deepEqual([version.status, version.body.detail.code], [409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('runs only the draft that If-Match names: 412 when it is another by now', async () => {
    const { draft } = await weir.createDraft([passthrough('one')]);
    const etag = (await weir.call('GET', draft, { key: weir.key })).headers.get('etag') ?? '';
    await weir.edit(draft, [passthrough('two')]);
    for (const path of ['execute', 'runs', 'step']) {
      const body = { message: 'm', ...(path === 'step' && { executionId: null, stepIndex: 0 }) };
      const refused = await weir.post(`${draft}/${path}`, body, { 'if-match': etag });
      assert.deepEqual([refused.status, refused.body.detail.code], [412, 'PRECONDITION_FAILED'], path);
      const sent = await weir.post(
        `${draft}/runs`,
        { message: 'm' },
        { 'if-match': refused.body.detail.etag },
      );
      assert.equal(sent.status, 202);
    }
  });

  it('is refused for a draft that could not be published, naming each problem by its path', async () => {
    const { draft } = await weir.createDraft([code('one', 'return {')]);
    for (const path of ['execute', 'runs', 'step']) {
      const body = { message: 'm', ...(path === 'step' && { stepIndex: 0 }) };
      const refused = await weir.post(`${draft}/${path}`, body);
      assert.deepEqual([refused.status, refused.body.detail.code], [400, 'INVALID_TREE'], path);
      assert.equal(refused.body.detail.problems[0].path, 'steps[0].prompt', path);
    }
  });

  it('leaves nothing stored when it is refused, as a job is', async () => {
    const { draft } = await weir.createDraft([passthrough('one')]);
    for (const [body, status] of [
      [{}, 422],
      [{ message: 'Ada', mesage: 1 }, 422],
      [{ message: 'Ada', tools: [] }, 405],
      [{ message: 'Ada', block_overrides: { nowhere: { prompt: 'x' } } }, 422],
    ] as const)
      assert.equal((await weir.post(`${draft}/runs`, body)).status, status, JSON.stringify(body));
    assert.equal(await countSnapshots(draft), 0);
    for (let runs = 0; runs < 2; runs += 1) await weir.post(`${draft}/runs`, { message: 'm' });
    assert.equal(await countSnapshots(draft), 1);
  });

  it('needs credits', async () => {
    const { draft } = await weir.createDraft([passthrough('one')]);
    const setBalance = (balance_microcredits: number) =>
      weir.db
        .updateTable('organization')
        .set({ balance_microcredits })
        .where('id', '=', weir.tenant.organizationId)
        .execute();
    await setBalance(0);
    const { status } = await weir.post(`${draft}/runs`, { message: 'm' });
    await setBalance(1_000_000_000);
    assert.equal(status, 402);
  });

  it('is refused to an API key without the scope deploy, and 404 for those of other projects', async () => {
    const { draft } = await weir.createDraft([passthrough('one')]);
    const post = (path: string, key: string) => weir.call('POST', path, { key, body: { message: 'm' } });
    const runner = await createScopedKey(weir, weir.tenant.projectId, 'run', 'read');
    const refused = await post(`${draft}/runs`, runner.key);
    assert.deepEqual([refused.status, refused.body.detail.code], [403, 'FORBIDDEN']);
    const other = await weir.createTenant();
    const stranger = await createScopedKey(weir, other.projectId, 'deploy');
    for (const path of [draft, draft.replace(weir.tenant.projectId, other.projectId)])
      assert.equal((await post(`${path}/runs`, stranger.key)).status, 404);
  });

  it('is not run again by …/rerun and …/retry, whose new run would be of another draft', async () => {
    const { draft, flow } = await weir.createDraft([passthrough('one')]);
    const { executionId } = (await weir.post(`${draft}/execute`, { message: 'm' })).body;
    for (const how of ['rerun', 'retry']) {
      const { status, body } = await weir.post(`${flow}/jobs/${executionId}/${how}`, undefined);
      assert.deepEqual([status, body.detail.code], [400, 'INVALID_VERSION'], how);
    }
  });

  it('is not started at the paths of versions: v0 is refused', async () => {
    const { draft, flow } = await weir.createDraft([passthrough('one')]);
    await weir.publish(draft);
    for (const [endpoint, body] of [
      ['execute', { message: 'x' }],
      ['jobs', { message: 'x' }],
      ['step', { executionId: null, stepIndex: 0, message: 'x' }],
    ] as const) {
      const refused = await weir.post(`${flow}/v0/${endpoint}`, body);
      assert.deepEqual([refused.status, refused.body.detail.code], [400, 'INVALID_VERSION'], endpoint);
    }
  });
});
