import assert from 'node:assert/strict';
import { llm } from '../blocks.ts';
import { answer, type FakeModelServer, startFakeModelServer } from '../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { startApiProcess } from './api-process.ts';

describe('a model key that came with a request', () => {
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

  it('is there for the worker after the process that accepted it was killed -9', async () => {
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

  it('stays as it is when the request is repeated with its Idempotency-Key and another key', async () => {
    const flow = await weir.createFlow(tenant, [llm('one', 'One', 'demo/chat')]);
    await weir.stopWorker();
    const send = (key: string) =>
      weir.call('POST', `${flow}/jobs`, {
        key: tenant.key,
        body: { message: '' },
        headers: { 'idempotency-key': 'once', 'x-weir-model-key': `demo=${key}` },
      });
    const { executionId } = (await send('sk-sent-first')).body;
    models.will(answer('done'));
    assert.equal((await send('sk-sent-anew')).body.executionId, executionId);
    await weir.startWorker();
    assert.equal((await weir.finish(flow, executionId, tenant.key)).body.result, 'done');
    assert.equal(models.calls.at(-1)?.headers.authorization, 'Bearer sk-sent-first');
  });
});
