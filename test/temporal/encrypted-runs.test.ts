import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startDemoModelServer } from '../../dev/demo-model/server.ts';
import { startTemporal, type Temporal } from '../../dev/temporal/temporal.ts';
import { beside, code, llm, passthrough } from '../blocks.ts';
import { answerWith, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import type { Tenant } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { startWebhookWeir, type WebhookWeir } from '../webhooks.ts';

const KEYS = `one:${Buffer.alloc(32, 1).toString('base64')}`;
const TOOLS = [{ type: 'function', function: { name: 'get_weather' } }];

describe('what Temporal stores of runs', () => {
  let folder: string;
  let temporal: Temporal;
  let models: Awaited<ReturnType<typeof startDemoModelServer>>;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'weir-encrypted-'));
    temporal = await startTemporal({ stateFolder: folder, durable: false });
    models = await startDemoModelServer();
  });
  after(async () => {
    await models.close();
    await temporal.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Whether a byte sequence is anywhere in the engine's files, the log of its database included. */
  function isStored(text: string): boolean {
    return readdirSync(folder)
      .filter((file) => file.startsWith('temporal.db'))
      .some((file) => readFileSync(path.join(folder, file)).includes(text));
  }

  async function start(env: NodeJS.ProcessEnv): Promise<WebhookWeir> {
    return startWebhookWeir({
      env: { TEMPORAL_ADDRESS: temporal.address, DEMO_BASE_URL: models.url, ...env },
    });
  }

  it('holds no message, prompt, output, name of a block or reason of a failure, however runs and deliveries go', async () => {
    const secret = `secret-${randomUUID()}`;
    const weir = await start({ WEIR_TEMPORAL_KEYS: KEYS });
    try {
      const tenant = await weir.createTenant();
      const named = { name: `${secret} block` };
      const execute = (flow: string, more = {}) =>
        weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: secret, ...more } });

      // Blocks of all kinds, as local and as regular activities, in parallel and in loops.
      const all = await weir.createFlow(tenant, [
        code('a', 'return [message, message + " out"];', named),
        { type: 'loop', step_id: 'l', name: secret, max_iterations: 2, body: [passthrough('b', named)] },
        beside(llm('m', `${secret} {{previous_output}}`, 'demo/chat', named)),
        llm('n', `${secret} {{message}}`, 'demo/chat', named),
      ]);
      const { status, body } = await execute(all);
      assert.equal(status, 200, JSON.stringify(body));

      await fail(weir, tenant, secret);
      await pause(weir, tenant, secret);
      await deliver(weir, tenant, secret);
      // The engine has stored what is readable: the organization, by which operators search.
      await waitUntil(async () => isStored(tenant.organization));
      assert.equal(isStored(secret), false);
    } finally {
      await weir.stop();
    }
  });

  it('holds them in plain text without encryption, and those runs are read on by processes that encrypt', async () => {
    const secret = `plain-${randomUUID()}`;
    const plain = await start({ WEIR_TASK_QUEUE: 'turned-on' });
    const tenant = await plain.createTenant();
    const flow = await plain.createFlow(tenant, [passthrough('a'), code('b', 'return input + "!";')]);
    await plain.stopWorker();
    const { body } = await plain.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: secret } });
    await waitUntil(async () => isStored(body.executionId));
    const env = { ...plain.env, DATABASE_URL: plain.config.databaseUrl, WEIR_TASK_QUEUE: 'turned-on' };
    const encrypting = await start({ ...env, WEIR_TEMPORAL_KEYS: KEYS });
    try {
      const { body: ended } = await plain.finish(flow, body.executionId, tenant.key);
      assert.equal(ended.result, `${secret}!`);
    } finally {
      await encrypting.stop();
      await plain.stop();
    }
  });

  /** A run whose code fails, and one whose model refuses, which is cancelled between two attempts. */
  async function fail(weir: WebhookWeir, tenant: Tenant, secret: string): Promise<void> {
    const failing = await weir.createFlow(tenant, [code('a', `throw new Error("${secret} " + message);`)]);
    const { body } = await weir.call('POST', `${failing}/execute`, {
      key: tenant.key,
      body: { message: secret },
    });
    assert.match(body.errorMessage, new RegExp(`${secret} ${secret}`));
    const refused = await weir.createFlow(tenant, [llm('a', secret, 'demo/error-503', { name: secret })]);
    const { body: job } = await weir.call('POST', `${refused}/jobs`, {
      key: tenant.key,
      body: { message: secret },
    });
    const handle = weir.client.workflow.getHandle(job.executionId);
    await waitUntil(async () => {
      const [pending] = (await handle.describe()).raw.pendingActivities ?? [];
      return pending?.lastFailure?.message === 'Encoded failure';
    });
    await weir.call('POST', `${refused}/jobs/${job.executionId}/cancel`, { key: tenant.key });
    const { body: cancelled } = await weir.finish(refused, job.executionId, tenant.key);
    assert.equal(cancelled.code, 'CANCELLED');
  }

  /** A run that waits for the results of tool calls, and goes on. */
  async function pause(weir: WebhookWeir, tenant: Tenant, secret: string): Promise<void> {
    const asking = await weir.createFlow(tenant, [
      llm('ask', `Use get_weather: ${secret}`, 'demo/chat', { processor_config: { tools_enabled: true } }),
      code('b', 'return [input, message];'),
    ]);
    const options = { key: tenant.key, body: { message: secret, tools: TOOLS } };
    const { body } = await weir.call('POST', `${asking}/execute`, options);
    const { executionId, pausedAtStep, toolCallMessages, toolCalls, accumulatedOutputs } = body;
    const results = toolCalls.map(({ id }: { id: string }) => ({
      role: 'tool',
      tool_call_id: id,
      content: secret,
    }));
    const resumed = await weir.call('POST', `${asking}/execute`, {
      key: tenant.key,
      body: {
        ...{ executionId, pausedAtStep, accumulatedOutputs, tools: TOOLS },
        toolCallMessages: [...toolCallMessages, ...results],
      },
    });
    assert.equal(resumed.body.result?.[1], secret, JSON.stringify(resumed.body));
  }

  /** A delivery whose first attempt fails. */
  async function deliver(weir: WebhookWeir, tenant: Tenant, secret: string): Promise<void> {
    const hook = weir.hooks[0] as WebhookReceiver;
    hook.will(answerWith(503));
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    await weir.startJob(tenant, flow, hook, { message: secret });
    const { id } = await weir.deliveryWhen(tenant, ({ status }) => status === 'failed_retry');
    await weir.pendingAttempt(id, 2);
    await weir.attemptNow(id);
    await weir.deliveryWhen(tenant, ({ status }) => status === 'succeeded', id);
  }
});
