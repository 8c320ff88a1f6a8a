import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { suspendOrganization } from '../../../db/tenants/organizations.ts';
import { findRunDelivery } from '../../../db/webhooks/open-deliveries.ts';
import type { Step } from '../../../flow/definition.ts';
import { deliveryWorkflowId } from '../../../flow/delivery.ts';
import { acceptRun } from '../../accept-run.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { type FakeModelServer, respond, startFakeModelServer } from '../../fakes/model-server.ts';
import type { Received } from '../../fakes/webhook-receiver.ts';
import type { Answer, Tenant } from '../../harness.ts';
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';
import { describeWith } from '../../where-available.ts';

describeWith(['openssl'], 'webhook events', () => {
  let models: FakeModelServer;
  let weir: WebhookWeir;
  let tenant: Tenant;
  let secret: string;
  before(async () => {
    models = await startFakeModelServer();
    weir = await startWebhookWeir({ env: { DEMO_BASE_URL: models.provider.baseUrl } });
    tenant = await weir.createTenant();
    secret = await weir.rotate(tenant);
  });
  after(async () => {
    await weir.stop();
    await models.close();
  });

  const hook = () => weir.hooks[0] as WebhookWeir['hooks'][number];
  /** Runs a job to its webhook. */
  const receive = async (flow: string, more: object = {}) =>
    arrivalOf(await weir.startJob(tenant, flow, hook(), more));
  const arrivalOf = async (executionId: string): Promise<Received & { json: Answer['body'] }> => {
    const [received] = (await hook().arrivalsOf(executionId)) as [Received];
    return { ...received, json: JSON.parse(received.body.toString()) };
  };

  it('sends flow.completed with the result, and the documented fields and headers', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a'), code('b', 'return { said: message };')]);
    const { headers, json, path } = await receive(flow);
    const { body: job } = await weir.call('GET', `${flow}/jobs/${json.executionId}`, { key: tenant.key });
    assert.deepEqual(json, {
      event: 'flow.completed',
      executionId: job.executionId,
      flowId: job.flowId,
      organizationId: tenant.organizationId,
      durationMs: job.durationMs,
      occurredAt: job.finishedAt,
      result: { said: 'm' },
    });
    const delivery = await weir.deliveryWhen(tenant, ({ status }) => status === 'succeeded');
    assert.equal(path, '/hook');
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['user-agent'], 'Weir-Webhooks/1.0');
    assert.equal(headers['x-weir-event'], 'flow.completed');
    assert.equal(headers['x-weir-delivery'], delivery.id);
    assert.match(String(headers['x-weir-timestamp']), /^\d{10}$/);
    assert.match(
      String(headers['x-weir-signature']),
      new RegExp(`^t=${headers['x-weir-timestamp']},v1=[0-9a-f]{64}$`),
    );
    assert.deepEqual(
      [
        delivery.executionId,
        delivery.eventType,
        delivery.targetUrl,
        delivery.attempt,
        delivery.responseStatus,
      ],
      [job.executionId, 'flow.completed', `https://${hook().host}/hook`, 1, 204],
    );
  });

  it('is sent, and sent again, for a run of an organization that was suspended meanwhile', async () => {
    const organization = await weir.createTenant();
    const flow = await weir.createFlow(organization, [passthrough('a')]);
    await weir.stopWorker();
    const executionId = await weir.startJob(organization, flow, hook());
    await weir.db
      .transaction()
      .execute((tx) => suspendOrganization(tx, organization.organizationId, undefined));
    await weir.startWorker();
    assert.equal((await arrivalOf(executionId)).json.event, 'flow.completed');
    const { id } = await weir.deliveryWhen(organization, ({ status }) => status === 'succeeded');
    const again = await weir.webhooks(organization, 'POST', `deliveries/${id}/redeliver`);
    assert.equal(again.status, 202);
  });

  it('signs the exact bytes with the secret as it is shown', async () => {
    const { headers, body } = await receive(await weir.createFlow(tenant, []), {
      message: 'ä \u0000 \ud800 ☃',
    });
    const [t, v1] = String(headers['x-weir-signature']).split(',');
    const text = Buffer.concat([Buffer.from(`${t?.slice(2)}.`), body]);
    assert.equal(v1, `v1=${createHmac('sha256', secret).update(text).digest('hex')}`);
  });

  it('is verified by the standardwebhooks package', async () => {
    const { headers, body, json } = await receive(await weir.createFlow(tenant, []));
    const verify = (key: string, bytes: Buffer) =>
      new Webhook(key).verify(bytes, headers as Record<string, string>);
    assert.deepEqual(verify(secret, body), json);
    assert.throws(() => verify(secret, Buffer.concat([body, Buffer.from(' ')])));
    assert.equal(headers['webhook-id'], headers['x-weir-delivery']);
    assert.equal(headers['webhook-timestamp'], headers['x-weir-timestamp']);
  });

  it('sends flow.failed when a block fails, with its code, step and message in errorMessage, and the reason', async () => {
    const { headers, json } = await receive(
      await weir.createFlow(tenant, [code('bad', 'throw new Error("no");')]),
    );
    assert.equal(headers['x-weir-event'], 'flow.failed');
    assert.deepEqual(
      [json.event, json.failureReason, 'result' in json, 'truncated' in json],
      ['flow.failed', 'error', false, false],
    );
    assert.match(json.errorMessage, /^CODE_ERROR: Block "bad" \(bad\): .*no/);
  });

  it('sends flow.failed with credits_exhausted when the credits end mid-run', async () => {
    const poor = await weir.createTenant({ credits: 1 });
    const flow = await weir.createFlow(poor, [code('wait', 'return 1;'), llm('ask', 'x', 'demo/chat')]);
    const started = weir.db
      .updateTable('organization')
      .set({ balance_microcredits: 0 })
      .where('id', '=', poor.organizationId);
    // The balance is positive when the run is accepted, and gone when it asks the model.
    await weir.stopWorker();
    const executionId = await weir.startJob(poor, flow, hook());
    await started.execute();
    await weir.startWorker();
    const { json } = await arrivalOf(executionId);
    assert.deepEqual([json.event, json.failureReason], ['flow.failed', 'credits_exhausted']);
  });

  it('sends flow.failed with byok_rejected when the provider rejects the key of the request', async () => {
    const flow = await weir.createFlow(tenant, [llm('ask', 'x', 'demo/chat')]);
    models.will(respond(401, { error: { message: 'Incorrect API key provided' } }));
    const { body } = await weir.call('POST', `${flow}/jobs`, {
      key: tenant.key,
      headers: { 'x-weir-model-key': 'demo=sk-of-the-request' },
      body: { message: 'm', callbackUrl: `https://${hook().host}/hook` },
    });
    const { json } = await arrivalOf(body.executionId);
    assert.deepEqual([json.event, json.failureReason], ['flow.failed', 'byok_rejected']);
    assert.match(json.errorMessage, /^BYOK_REJECTED: /);
  });

  it('sends flow.failed when the run is cancelled', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    await weir.stopWorker();
    const executionId = await weir.startJob(tenant, flow, hook());
    await weir.call('POST', `${flow}/jobs/${executionId}/cancel`, { key: tenant.key });
    await weir.startWorker();
    const { json } = await arrivalOf(executionId);
    assert.deepEqual(
      [json.executionId, json.event, json.failureReason],
      [executionId, 'flow.failed', 'error'],
    );
  });

  it('sends flow.failed at once when the run is cancelled before its workflow was started', async () => {
    const flow = await weir.createFlow(tenant, []);
    const callback = { url: `https://${hook().host}/`, events: ['flow.failed' as const] };
    const { executionId } = await acceptRun(weir, tenant, flow, { callback });
    // Without a worker there is no reconciler that could have started the delivery.
    await weir.stopWorker();
    await weir.call('POST', `${flow}/jobs/${executionId}/cancel`, { key: tenant.key });
    const delivery = await findRunDelivery(weir.db, executionId);
    assert(delivery);
    const workflow = await weir.client.workflow.getHandle(deliveryWorkflowId(delivery)).describe();
    assert.equal(workflow.status.name, 'RUNNING');
    await weir.startWorker();
    assert.equal((await arrivalOf(executionId)).json.executionId, executionId);
  });

  it('reports a run whose last step is parallel, and one without steps', async () => {
    const branches = { a: [passthrough('a')], b: [code('b', 'return 2;')] };
    const parallel = [{ type: 'parallel' as const, step_id: 'p', name: 'p', branches }];
    assert.deepEqual((await receive(await weir.createFlow(tenant, parallel))).json.result, { a: 'm', b: 2 });
    assert.equal((await receive(await weir.createFlow(tenant, []))).json.result, 'm');
  });

  it('caps the body at 256 KB: the result is left out and its size given', async () => {
    const flow = await weir.createFlow(tenant, [code('grow', 'return "ä".repeat(parameters.n);')]);
    const empty = await receive(flow, { parameters: { n: 0 } });
    // durationMs has from one digit to five.
    const around = empty.body.length - String(empty.json.durationMs).length + 5;
    const fitting = Math.floor((256 * 1024 - around) / 2);
    const { json: whole, body } = await receive(flow, { parameters: { n: fitting } });
    assert.equal(whole.result.length, fitting);
    assert(body.length <= 256 * 1024 && body.length > 256 * 1024 - 8, String(body.length));

    const { json } = await receive(flow, { parameters: { n: fitting + 8 } });
    assert.deepEqual(
      [json.result, json.truncated, json.originalResultBytes],
      [null, true, 2 * (fitting + 8) + 2],
    );
    const { body: job } = await weir.call('GET', `${flow}/jobs/${json.executionId}`, { key: tenant.key });
    assert.equal(job.result.length, fitting + 8);
  });

  it('gives the exact size of what it leaves out, whatever branches are called and loops find', async () => {
    const grow = (stepId: string) => code(stepId, 'return "ä".repeat(100_000);');
    const body = [passthrough('item')];
    const none: Step = { type: 'loop', step_id: 'none', name: 'none', max_iterations: 1, body };
    const branches = { 'größe "1"': [grow('a')], b: [grow('b')], '\n': [code('list', 'return [];'), none] };
    const both: Step = { type: 'parallel', step_id: 'both', name: 'both', branches };
    const flow = await weir.createFlow(tenant, [both]);
    const { json } = await receive(flow);
    const { body: job } = await weir.call('GET', `${flow}/jobs/${json.executionId}`, { key: tenant.key });
    assert.deepEqual(job.result['\n'], []);
    assert.equal(json.originalResultBytes, Buffer.byteLength(JSON.stringify(job.result)));
  });
});
