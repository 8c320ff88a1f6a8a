import assert from 'node:assert/strict';
import { llm } from '../blocks.ts';
import { answer, type FakeModelServer, startFakeModelServer } from '../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { startApiProcess } from './api-process.ts';

describe('a model key that came with a request to one process', () => {
  let models: FakeModelServer;
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    models = await startFakeModelServer();
    weir = await startWeir({
      worker: false,
      env: { DEMO_BASE_URL: models.provider.baseUrl, DEMO_API_KEY: 'of-the-service' },
    });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
    await models.close();
  });

  it('is there for the worker after that process was killed -9', async () => {
    const api = await startApiProcess(weir, { DEMO_BASE_URL: models.provider.baseUrl });
    const flow = await weir.createFlow(tenant, [llm('one', 'One', 'demo/chat')]);
    const { status, body } = await weir.call('POST', `${flow}/jobs`, {
      url: api.url,
      key: tenant.key,
      body: { message: '' },
      headers: { 'x-weir-model-key': 'demo=sk-of-the-request' },
    });
    await api.kill();
    assert.equal(status, 202);
    models.will(answer('done'));
    await weir.startWorker();
    assert.equal((await weir.finish(flow, body.executionId, tenant.key)).body.result, 'done');
    assert.equal(models.calls.at(-1)?.headers.authorization, 'Bearer sk-of-the-request');
  });

  it('is taken again from the same request, sent anew with its Idempotency-Key', async () => {
    const flow = await weir.createFlow(tenant, [llm('one', 'One', 'demo/chat')]);
    await weir.stopWorker();
    const headers = { 'idempotency-key': 'once' };
    const send = (more: Record<string, string> = {}) =>
      weir.call('POST', `${flow}/jobs`, {
        key: tenant.key,
        body: { message: '' },
        headers: { ...headers, ...more },
      });
    const { executionId } = (await send()).body;
    await weir.db
      .updateTable('run')
      .set({ model_key_providers: ['demo'] })
      .where('execution_id', '=', executionId)
      .execute();
    models.will(answer('done'));
    await send({ 'x-weir-model-key': 'demo=sk-sent-anew' });
    await weir.startWorker();
    assert.equal((await weir.finish(flow, executionId, tenant.key)).body.result, 'done');
    assert.equal(models.calls.at(-1)?.headers.authorization, 'Bearer sk-sent-anew');
  });
});
