// The forms of a job's `callbackUrl` and `callbackEvents`, and the deliveries that they make.
import assert from 'node:assert/strict';
import { requireWebhookUrl } from '../../../api/runs/calls/callback.ts';
import { createResolvePublic } from '../../../platform/net/resolve-public.ts';
import { code } from '../../blocks.ts';
import type { Tenant } from '../../harness.ts';
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';
import { describeWith } from '../../where-available.ts';
import { createStepClient } from '../runs/step-client.ts';

describeWith(['openssl'], 'callbacks of jobs', () => {
  let weir: WebhookWeir;
  let tenant: Tenant;
  before(async () => {
    weir = await startWebhookWeir();
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  const hook = () => weir.hooks[0] as WebhookWeir['hooks'][number];

  it('is named, with its state, by the run that it reports', async () => {
    const flow = await weir.createFlow(tenant, []);
    const executionId = await weir.startJob(tenant, flow, hook());
    const delivery = await weir.deliveryWhen(tenant, ({ status }) => status === 'succeeded');
    const { body } = await weir.call('GET', `${flow}/jobs/${executionId}`, { key: tenant.key });
    assert.deepEqual(body.deliveries, [{ id: delivery.id, event: 'flow.completed', status: 'succeeded' }]);
  });

  it('records a delivery only for the events that were asked for', async () => {
    const other = await weir.createTenant();
    const good = await weir.createFlow(other, []);
    const bad = await weir.createFlow(other, [code('bad', 'throw new Error("no");')]);
    const run = async (flow: string, callbackEvents: string[]) =>
      weir.finish(flow, await weir.startJob(other, flow, hook(), { callbackEvents }), other.key);
    await run(good, ['flow.failed']);
    await run(bad, ['flow.completed']);
    await run(good, ['flow.completed', 'flow.completed']);
    await run(bad, ['flow.failed', 'flow.completed']);
    const { body } = await weir.webhooks(other, 'GET', 'deliveries');
    assert.deepEqual(
      body.deliveries.map(({ eventType }: { eventType: string }) => eventType),
      ['flow.failed', 'flow.completed'],
    );
  });

  it('records no delivery for /execute and /step, nor for a job without callbackUrl', async () => {
    const other = await weir.createTenant();
    const flow = await weir.createFlow(other, [code('a', 'return 1;')]);
    const body = { message: 'm', callbackUrl: 'http://[::1]', callbackEvents: 7 };
    assert.equal((await weir.call('POST', `${flow}/execute`, { key: other.key, body })).status, 200);
    const { step } = await createStepClient(weir, other);
    const events = await step(flow, { executionId: null, stepIndex: 0, ...body });
    assert.equal(events.at(-1)?.event, 'run_completed');
    const { body: job } = await weir.call('POST', `${flow}/jobs`, {
      key: other.key,
      body: { message: 'm' },
    });
    await weir.finish(flow, job.executionId, other.key);
    assert.deepEqual((await weir.webhooks(other, 'GET', 'deliveries')).body, {
      deliveries: [],
      hasMore: false,
      nextCursor: null,
    });
  });

  it('makes one delivery for two requests with one Idempotency-Key', async () => {
    const other = await weir.createTenant();
    const flow = await weir.createFlow(other, []);
    const send = () =>
      weir.call('POST', `${flow}/jobs`, {
        key: other.key,
        headers: { 'idempotency-key': 'once' },
        body: { message: 'm', callbackUrl: `https://${hook().host}/once` },
      });
    const [first, second] = [await send(), await send()];
    assert.equal(first.body.executionId, second.body.executionId);
    await weir.deliveryWhen(other, ({ status }) => status === 'succeeded');
    assert.equal((await weir.webhooks(other, 'GET', 'deliveries')).body.deliveries.length, 1);
    assert.equal(hook().received.filter(({ path }) => path === '/once').length, 1);
  });

  describe('callbackUrl', () => {
    const refused = {
      http: 'http://example.com/',
      loopback: 'https://127.0.0.1/',
      'loopback as a number': 'https://2130706433/',
      'mapped loopback': 'https://[::ffff:127.0.0.1]/',
      'a private network': 'https://10.0.0.1/',
      metadata: 'https://169.254.169.254/latest',
      localhost: 'https://localhost/',
      'user info': 'https://a:b@example.com/',
      'port 0': 'https://example.com:0/',
      'no URL': 'nonsense',
      nothing: '',
      'too long a URL': `https://example.com/${'x'.repeat(2048)}`,
      'a URL that is too long as it is called': `https://8.8.8.8/${'é'.repeat(1000)}`,
      'a number': 7,
    };
    for (const [name, callbackUrl] of Object.entries(refused))
      it(`refuses ${name} with 422 that names it`, async () => {
        const flow = await weir.createFlow(tenant, []);
        const { status, body } = await weir.call('POST', `${flow}/jobs`, {
          key: tenant.key,
          body: { message: 'm', callbackUrl },
        });
        assert.deepEqual([status, body.detail.code], [422, 'VALIDATION_ERROR']);
        assert.equal(body.detail.errors[0].field, 'callbackUrl');
      });

    it('is DNS_UNAVAILABLE, which may be tried again, while its host cannot be looked up', async () => {
      const lookup = async () => Promise.reject(Object.assign(new Error('timeout'), { code: 'ETIMEOUT' }));
      const deps = { resolvePublic: createResolvePublic({ lookup }), config: { webhookListeners: false } };
      await assert.rejects(requireWebhookUrl(deps, 'callbackUrl', 'https://hooks.example/'), {
        code: 'DNS_UNAVAILABLE',
        message: 'callbackUrl: hooks.example could not be looked up: send the request again.',
      });
    });

    for (const callbackEvents of [[], ['flow.started'], 'flow.completed', [null], {}])
      it(`refuses ${JSON.stringify(callbackEvents)} as callbackEvents`, async () => {
        const flow = await weir.createFlow(tenant, []);
        const { status, body } = await weir.call('POST', `${flow}/jobs`, {
          key: tenant.key,
          body: { message: 'm', callbackUrl: `https://${hook().host}/`, callbackEvents },
        });
        assert.deepEqual([status, body.detail.code], [422, 'VALIDATION_ERROR']);
        const [{ field }, ...others] = body.detail.errors;
        assert.match(field, /^callbackEvents/);
        assert.deepEqual(others, []);
      });
  });
});
