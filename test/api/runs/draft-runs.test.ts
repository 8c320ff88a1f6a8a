// A draft is run as published versions are, by those who may edit it: POST …/draft/execute, …/draft/runs and …/draft/step.
import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer, callTools, type FakeModelServer, startFakeModelServer } from '../../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { readMessages, type SseMessage } from '../../sse.ts';

async function collect(response: Response): Promise<SseMessage[]> {
  const messages: SseMessage[] = [];
  for await (const message of readMessages(response)) messages.push(message);
  return messages;
}

describe('a run of the draft', () => {
  let models: FakeModelServer;
  let weir: Weir;
  let tenant: Tenant;
  let key: string;
  before(async () => {
    models = await startFakeModelServer();
    weir = await startWeir({ env: { DEMO_BASE_URL: models.provider.baseUrl } });
    tenant = await weir.createTenant();
    key = (await createScopedKey(weir, tenant.projectId, 'deploy', 'run', 'read')).key;
  });
  after(async () => {
    await weir.stop();
    await models.close();
  });

  let count = 0;
  /** Creates a flow that was never published; answers the path of its draft, and of its runs. */
  async function createDraft(steps: Step[]) {
    const flows = `/projects/${tenant.projectId}/flows`;
    const slug = `draft-${++count}`;
    const { body } = await weir.call('POST', flows, { key, body: { name: slug, slug } });
    const draft = `${flows}/${body.id}/draft`;
    await edit(draft, steps);
    return { draft, flow: `${tenant.organization}/project/${slug}` };
  }

  async function edit(draft: string, steps: Step[]): Promise<void> {
    const { status } = await weir.call('PUT', draft, {
      key,
      body: { steps },
      headers: { 'if-match': '*' },
    });
    assert.equal(status, 200);
  }

  const post = (path: string, body: unknown, asked = key) => weir.call('POST', path, { key: asked, body });

  async function step(draft: string, body: object): Promise<SseMessage[]> {
    const response = await fetch(`${weir.url}/api/v1${draft}/step`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.equal(response.status, 200);
    return collect(response);
  }

  it('needs no version: it is of version 0 and the environment test, and is found among the runs of the flow', async () => {
    const { draft, flow } = await createDraft([code('greet', 'return `Hello, ${message} ${parameters.n}`;')]);
    const { status, body } = await post(`${draft}/execute`, { message: 'Ada', parameters: { n: 2 } });
    assert.equal(status, 200);
    assert.deepEqual([body.status, body.result, body.blockCount], ['completed', 'Hello, Ada 2', 1]);
    const run = await weir.call('GET', `${flow}/jobs/${body.executionId}`, { key });
    assert.deepEqual([run.body.version, run.body.environment, run.body.mode], [0, 'test', 'execute']);
    const { runs } = (await weir.call('GET', `${flow}/runs?environment=test`, { key })).body;
    assert.deepEqual(
      runs.map(({ executionId }: { executionId: string }) => executionId),
      [body.executionId],
    );
  });

  it('runs the draft as it was when it began, and the next one what was edited since', async () => {
    const { draft, flow } = await createDraft([code('one', 'return 1;')]);
    const first = await post(`${draft}/runs`, { message: '' });
    assert.deepEqual([first.status, first.body.status], [202, 'started']);
    await edit(draft, [code('one', 'return 2;')]);
    const second = await post(`${draft}/runs`, { message: '' });
    for (const [{ body }, result] of [[first, 1] as const, [second, 2] as const])
      assert.equal((await weir.finish(flow, body.executionId, key)).body.result, result);
  });

  it('is followed, read and cancelled at the paths of the flow’s runs', async () => {
    const { draft, flow } = await createDraft([passthrough('one')]);
    const { executionId } = (await post(`${draft}/runs`, { message: 'm' })).body;
    const events = await fetch(`${weir.url}/api/v1/seq/${flow}/jobs/${executionId}/events`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const last = (await collect(events)).at(-1);
    assert.deepEqual([last?.event, last?.data.version], ['run_completed', 0]);
    assert.equal((await post(`${flow}/jobs/${executionId}/cancel`, {})).status, 200);
  });

  it('pauses for tool calls, and is resumed by its executionId', async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
    const asks = { processor_config: { tools_enabled: true } };
    const { draft } = await createDraft([llm('ask', '{{message}}', 'demo/chat', asks)]);
    models.will(
      callTools([{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }]),
      answer('done'),
    );
    const paused = (await post(`${draft}/execute`, { message: 'm', tools })).body;
    assert.equal(paused.status, 'tool_calls_required');
    // Edited meanwhile: the run keeps the draft that it began with.
    await edit(draft, [passthrough('before'), llm('ask', '{{message}}', 'demo/chat', asks)]);
    const results = [{ role: 'tool', tool_call_id: 'a', content: 'it is there' }];
    const { pausedAtStep, executionId, iterationsUsed, accumulatedOutputs } = paused;
    const { status, body } = await post(`${draft}/execute`, {
      ...{ executionId, pausedAtStep, iterationsUsed, accumulatedOutputs, tools },
      toolCallMessages: [...paused.toolCallMessages, ...results],
    });
    assert.deepEqual([status, body.status, body.result], [200, 'completed', 'done']);
  });

  it('is stepped through; a step that an edit took away is 400 STALE_TREE', async () => {
    const { draft, flow } = await createDraft([
      code('one', 'return message + 1;'),
      code('two', 'return input + 2;'),
    ]);
    const first = await step(draft, { executionId: null, stepIndex: 0, message: 'm' });
    const [started, , completed] = first;
    assert.deepEqual([started?.event, started?.data.version], ['run_started', 0]);
    assert.equal(completed?.data.output, 'm1');
    const { executionId } = started?.data ?? {};
    const next = { executionId, stepIndex: 1, accumulatedOutputs: { one: 'edited' } };
    assert.equal((await step(draft, next)).at(-1)?.data.result, 'edited2');
    await edit(draft, [code('other', 'return 1;'), code('two', 'return input + 2;')]);
    const stale = await post(`${draft}/step`, next);
    assert.deepEqual([stale.status, stale.body.detail.code], [400, 'STALE_TREE']);

    const fork = await weir.call('GET', `${flow}/jobs/${executionId}/fork?step=1`, { key });
    assert.deepEqual([fork.body.version, fork.body.accumulatedOutputs], [0, { one: 'edited' }]);
  });

  it('is sent once with an Idempotency-Key, which stands for no run of a version', async () => {
    const { draft, flow } = await createDraft([passthrough('one')]);
    const headers = { 'idempotency-key': 'one-try' };
    const send = (path: string) => weir.call('POST', path, { key, body: { message: 'm' }, headers });
    const [first, again] = [await send(`${draft}/runs`), await send(`${draft}/runs`)];
    assert.equal(again.body.executionId, first.body.executionId);
    const flowPath = draft.replace(/\/draft$/, '');
    const { body } = await post(`${flowPath}/versions`, { note: 'one' });
    const version = await send(`${flow}/v${body.version}/jobs`);
    assert.deepEqual([version.status, version.body.detail.code], [409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('is refused for a draft that could not be published, naming each problem by its path', async () => {
    const { draft } = await createDraft([code('one', 'return {')]);
    for (const path of ['execute', 'runs', 'step']) {
      const { status, body } = await post(`${draft}/${path}`, { message: 'm', stepIndex: 0 });
      assert.deepEqual([status, body.detail.code], [400, 'INVALID_TREE'], path);
      assert.equal(body.detail.problems[0].path, 'steps[0].prompt', path);
    }
  });

  it('is refused to an API key without the scope deploy, and 404 for those of other projects', async () => {
    const { draft } = await createDraft([passthrough('one')]);
    const runner = await createScopedKey(weir, tenant.projectId, 'run', 'read');
    const refused = await post(`${draft}/runs`, { message: 'm' }, runner.key);
    assert.deepEqual([refused.status, refused.body.detail.code], [403, 'FORBIDDEN']);
    const other = await weir.createTenant();
    const stranger = await createScopedKey(weir, other.projectId, 'deploy');
    for (const path of [draft, draft.replace(tenant.projectId, other.projectId)])
      assert.equal((await post(`${path}/runs`, { message: 'm' }, stranger.key)).status, 404);
  });

  it('is not run again by …/rerun and …/retry, whose new run would be of another draft', async () => {
    const { draft, flow } = await createDraft([passthrough('one')]);
    const { executionId } = (await post(`${draft}/execute`, { message: 'm' })).body;
    for (const how of ['rerun', 'retry']) {
      const { status, body } = await post(`${flow}/jobs/${executionId}/${how}`, undefined);
      assert.deepEqual([status, body.detail.code], [400, 'INVALID_VERSION'], how);
    }
  });
});
