import assert from 'node:assert/strict';
import { updateDraft } from '../../../db/flows/flows.ts';
import { code, llm } from '../../blocks.ts';
import { answer } from '../../fakes/model-server.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { type JobsWeir, startJobsWeir } from './jobs-harness.ts';

describe('what a run was started with', () => {
  let weir: JobsWeir;
  let flow: string;
  let reader: string;
  before(async () => {
    weir = await startJobsWeir();
    reader = (await createScopedKey(weir, weir.tenant.projectId, 'read')).key;
  });
  beforeEach(async () => {
    flow = await weir.createFlow(weir.tenant, [code('echo', 'return message.length;')]);
  });
  after(() => weir.stop());

  const execute = async (body: object, headers = {}) => {
    const { key } = weir.tenant;
    const run = await weir.call('POST', `${flow}/execute`, { key, body, headers });
    assert.equal(run.status, 200, JSON.stringify(run.body));
    return `${flow}/jobs/${run.body.executionId}`;
  };
  const get = (path: string, headers = {}) => weir.call('GET', path, { key: reader, headers });

  it('is answered under the names of a request', async () => {
    const path = await execute({
      message: 'hello',
      parameters: { language: 'fr' },
      block_overrides: { echo: { inputSchema: { type: 'string' } } },
      maxCredits: 5,
      attachments: [{ kind: 'url', url: 'https://1.1.1.1/a.png', mime_type: 'image/png' }],
    });
    const { body } = await get(`${path}/request`);
    const { bytes, attachments, requestId, ...rest } = body;
    assert.match(requestId, /^[0-9a-f-]{36}$/);
    assert.deepEqual(rest, {
      message: 'hello',
      parameters: { language: 'fr' },
      block_overrides: { echo: { inputSchema: { type: 'string' } } },
      tools: [],
      maxCredits: 5,
      toolChoice: null,
      callbackUrl: null,
      callbackEvents: null,
      modelKeyProviders: [],
    });
    assert.deepEqual(bytes, { message: 7, parameters: 17, block_overrides: 42, tools: 2 });
    assert.equal(attachments[0].url, 'https://1.1.1.1/a.png');
    const again = await execute({ ...rest, attachments, tools: undefined, modelKeyProviders: undefined });
    const second = (await get(`${again}/request`)).body;
    assert.notEqual(second.requestId, requestId);
    assert.deepEqual({ ...second, requestId }, body);
  });

  it('leaves out what has more than 16 KiB, unless all is asked for', async () => {
    const path = await execute({ message: 'm'.repeat(20_000), parameters: { a: 1 } });
    const { body } = await get(`${path}/request`);
    assert.deepEqual([body.message, body.parameters, body.bytes.message], [null, { a: 1 }, 20_002]);
    assert.equal((await get(`${path}/request?full=true`)).body.message.length, 20_000);
    for (const query of ['full=1', 'full', 'fill=true'])
      assert.equal((await get(`${path}/request?${query}`)).status, 422, query);
  });

  it('has tools, the callback and the providers of keys, and never a key', async () => {
    const tools = [{ type: 'function', function: { name: 'look_up' } }];
    flow = await weir.createFlow(weir.tenant, [
      llm('ask', 'Hi', 'demo/chat', { processor_config: { tools_enabled: true } }),
    ]);
    weir.models.will(answer('fine'));
    const path = await execute(
      { message: 'x', tools, toolChoice: 'none' },
      { 'x-weir-model-key': 'demo=sk-secret-of-mine' },
    );
    const { body } = await get(`${path}/request`);
    assert.deepEqual([body.tools, body.toolChoice, body.modelKeyProviders], [tools, 'none', ['demo']]);
    assert.ok(!JSON.stringify(body).includes('sk-secret'));
    const { body: job } = await weir.call('POST', `${flow}/jobs`, {
      key: weir.tenant.key,
      body: { message: 'x', callbackUrl: 'https://1.1.1.1/hook', callbackEvents: ['flow.failed'] },
    });
    const { callbackUrl, callbackEvents } = (await get(`${flow}/jobs/${job.executionId}/request`)).body;
    assert.deepEqual([callbackUrl, callbackEvents], ['https://1.1.1.1/hook', ['flow.failed']]);
  });

  it('has an ETag, as the steps and the list of blocks have', async () => {
    const path = await execute({ message: 'hello' });
    for (const rest of ['/request', '/flow', '/blocks']) {
      const etag = (await get(path + rest)).headers.get('etag') ?? '';
      assert.equal((await get(path + rest, { 'if-none-match': etag })).status, 304, rest);
      assert.equal((await get(path + rest, { 'if-none-match': '"x"' })).status, 200, rest);
    }
  });

  it('is for callers who may read runs, the steps for those who may read flows; an unknown run is 404', async () => {
    const path = await execute({ message: 'hello' });
    const unknown = `${flow}/jobs/00000000-0000-4000-8000-000000000000`;
    for (const rest of ['/request', '/flow']) {
      for (const scope of ['webhooks', 'run', 'read', 'deploy'] as const) {
        const { key } = await createScopedKey(weir, weir.tenant.projectId, scope);
        const isLetIn = scope === 'read' || scope === (rest === '/flow' ? 'deploy' : 'run');
        const { status } = await weir.call('GET', path + rest, { key });
        assert.equal(status, isLetIn ? 200 : 403, `${rest} with ${scope}`);
      }
      assert.equal((await get(unknown + rest)).body.detail.code, 'RUN_NOT_FOUND');
    }
  });
});

describe('the steps of a run', () => {
  let weir: JobsWeir;
  before(async () => {
    weir = await startJobsWeir();
  });
  after(() => weir.stop());

  it('are those that it runs, whatever has become of the draft since', async () => {
    const { tenant } = weir;
    const path = await weir.createFlow(tenant, [code('first', 'return 1;')]);
    const { id } = await weir.db
      .selectFrom('flow')
      .select('id')
      .where('slug', '=', path.split('/')[2] ?? '')
      .executeTakeFirstOrThrow();
    const { key } = await createScopedKey(weir, tenant.projectId, 'deploy', 'run');
    const steps = async (executionId: string) => {
      const { body } = await weir.call('GET', `${path}/jobs/${executionId}/flow`, { key });
      return [body.flowId, body.version, body.steps.map((step: { step_id: string }) => step.step_id)];
    };
    await updateDraft(weir.db, id, { steps: [code('tried', 'return 2;')] });
    const draftRuns = `/projects/${tenant.projectId}/flows/${id}/draft/runs`;
    const tried = await weir.call('POST', draftRuns, { key, body: { message: 'x' } });
    await updateDraft(weir.db, id, { steps: [] });
    const published = await weir.call('POST', `${path}/jobs`, { key, body: { message: 'x' } });
    assert.deepEqual(await steps(tried.body.executionId), [id, 0, ['tried']]);
    assert.deepEqual(await steps(published.body.executionId), [id, 1, ['first']]);
  });
});
