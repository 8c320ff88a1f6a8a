// A service with metrics, as a process of its own, and a little of everything that it measures.
import { findFreePort } from '../../../dev/processes/ports.ts';
import { scheduleId } from '../../../worker/maintenance/keep-schedules.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../../fakes/counting-model-server.ts';
import { answerWith, type WebhookReceiver } from '../../fakes/webhook-receiver.ts';
import { type Program, startProgram } from '../../faults/processes.ts';
import type { Answer, Tenant } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';

export type MeasuredService = {
  weir: WebhookWeir;
  tenant: Tenant;
  url: string;
  metricsPort: number;
  models: CountingModelServer;
  /** Reads /metrics. */
  scrape(): Promise<string>;
  call: WebhookWeir['call'];
  program: Program;
  stop(): Promise<void>;
};

/** Starts `api/serve-with-worker.ts` with /metrics, beside an API of the test that makes tenants and flows. */
export async function startMeasuredService(env: NodeJS.ProcessEnv = {}): Promise<MeasuredService> {
  const models = await startCountingModelServer(0);
  const weir = await startWebhookWeir({ env: { DEMO_BASE_URL: models.url }, worker: false });
  const [port, metricsPort, nobody] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const program = await startProgram(weir, 'api/serve-with-worker.ts', {
    ...weir.env,
    WEIR_PORT: String(port),
    WEIR_METRICS_PORT: String(metricsPort),
    WEIR_DATABASE_DISK_GB: '100',
    OLLAMA_BASE_URL: `http://127.0.0.1:${nobody}/v1`,
    WEIR_OIDC_ISSUER: `http://127.0.0.1:${nobody}`,
    WEIR_OIDC_AUDIENCE: 'weir',
    ...env,
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    weir,
    tenant: await weir.createTenant(),
    url,
    metricsPort,
    models,
    program,
    async scrape() {
      const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
      return response.text();
    },
    call: (method, path, options = {}) => weir.call(method, path, { ...options, url }),
    async stop() {
      await program.kill();
      await weir.stop();
      await models.close();
    },
  };
}

/** Has the service do what it measures: runs that complete and fail, calls of models, deliveries, refusals. */
export async function makeTraffic({ weir, tenant, call, scrape }: MeasuredService): Promise<void> {
  const good = await weir.createFlow(tenant, [
    code('count', 'return input.length;'),
    llm('ask', 'ask {{message}}', 'demo/chat'),
    passthrough('pass'),
  ]);
  const bad = await weir.createFlow(tenant, [code('fail', 'throw new Error("no");')]);
  const endless = await weir.createFlow(tenant, [
    code('spin', 'for (;;) {}', { processor_config: { timeout_ms: 100 } }),
  ]);
  const run = (flow: string): Promise<Answer> =>
    call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'm' } });
  for (const flow of [good, good, bad, endless]) await run(flow);
  const poor = await weir.createTenant({ credits: 0 });
  const theirs = await weir.createFlow(poor, [passthrough('pass')]);
  await call('POST', `${theirs}/execute`, { key: poor.key, body: { message: 'm' } });
  await call('POST', `${good}/execute`, { key: 'wrong', body: { message: 'm' } });
  const hook = weir.hooks[0] as WebhookReceiver;
  // The one that fails is sent again a minute later, which makes no new series then.
  await weir.sendTest(tenant, hook);
  await hook.arrived(1);
  hook.will(answerWith(503, 'later'));
  const body = { message: 'm', callbackUrl: `https://${hook.host}/hook` };
  await call('POST', `${good}/jobs`, { key: tenant.key, body });
  for (const result of ['succeeded', 'failed_retry']) {
    const series = RegExp(`weir_webhook_attempt_duration_seconds_count\\{.*result="${result}"`);
    await waitUntil(async () => series.test(await scrape()));
  }
  await measureNow(weir);
  await waitUntil(async () => /weir_run_crash_looping /.test(await scrape()));
  await waitUntil(async () => /weir_dependency_up\{dependency="workers"\} 1/.test(await scrape()));
}

/** Has the scheduled job measure what waits now, and not within a minute. */
async function measureNow({ client, config }: WebhookWeir): Promise<void> {
  const schedule = client.schedule.getHandle(scheduleId(config.taskQueue, 'measureBacklog'));
  await waitUntil(() =>
    schedule.trigger().then(
      () => true,
      () => false,
    ),
  );
}

/** Has a request, and a request to a model, fail for reasons of the service. */
export async function makeFailures({ weir, tenant, call }: MeasuredService): Promise<void> {
  const [header, claims] = [{ alg: 'ES256', kid: 'unknown' }, {}].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  // The keys of its issuer cannot be fetched.
  await call('GET', '/projects', { key: `${header}.${claims}.none` });
  const flow = await weir.createFlow(tenant, [llm('ask', 'ask', 'ollama/absent')]);
  await call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } });
}
