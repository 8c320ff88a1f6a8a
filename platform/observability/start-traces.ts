import type { RunningTraces } from './open-telemetry-sdk.ts';

const NO_TRACES: RunningTraces = { shutdown: async () => undefined };

/**
 * Starts the traces that the standard `OTEL_*` variables ask for (docs/operating/traces.md), once per process. `service` is
 * the name of the process there, unless OTEL_SERVICE_NAME says otherwise. While nothing is asked for, no package is loaded.
 */
export async function startTraces(service: string): Promise<RunningTraces> {
  if (!hasTraces(process.env)) return NO_TRACES;
  const { openTelemetrySdk } = await import('./open-telemetry-sdk.ts');
  return openTelemetrySdk(service);
}

/** Whether the variables name somewhere to send traces to. */
export function hasTraces(env: NodeJS.ProcessEnv): boolean {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return false;
  const exporter = env.OTEL_TRACES_EXPORTER?.trim();
  if (exporter) return exporter !== 'none';
  return Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
}
