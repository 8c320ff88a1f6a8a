// A Weir with tracing on, whose spans a receiver of the test gets.
import { startTraces } from '../../../platform/observability/start-telemetry.ts';
import { type FakeModelServer, startFakeModelServer } from '../../fakes/model-server.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../../fakes/otlp-receiver.ts';
import type { Tenant } from '../../harness.ts';
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';

export const MODEL = 'openai/gpt-4o-mini';

export type TracedWeir = WebhookWeir & { otlp: OtlpReceiver; models: FakeModelServer; tenant: Tenant };

/** The environment in which a process sends its spans to a receiver. */
export function tracedEnv(url: string): NodeJS.ProcessEnv {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '20',
  };
}

/** Starts it. Tracing is on in this process until it stops: other test files run in it later. */
export async function startTracedWeir(
  options: { worker?: boolean; env?: NodeJS.ProcessEnv } = {},
): Promise<TracedWeir> {
  const otlp = await startOtlpReceiver();
  const added: NodeJS.ProcessEnv = { ...tracedEnv(otlp.url), ...options.env };
  Object.assign(process.env, added);
  const traces = await startTraces('weir-test');
  const models = await startFakeModelServer();
  const { baseUrl, apiKey } = models.provider;
  const env = { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: apiKey };
  const weir = await startWebhookWeir({ ...options, env });
  const tenant = await weir.createTenant();
  return {
    ...weir,
    env: { ...weir.env, ...env },
    otlp,
    models,
    tenant,
    async stop() {
      await weir.stop();
      await traces.shutdown();
      for (const name of Object.keys(added)) delete process.env[name];
      await models.close();
      await otlp.close();
    },
  };
}

/** Whether a trace has spans of these names. */
export function has(...names: string[]): (spans: ReceivedSpan[]) => boolean {
  return (spans) => names.every((name) => spans.some((span) => span.name === name));
}
