// Starts metrics and traces when something asks for them. Instruments are in metrics/…-metrics.ts, beside them; no package of
// OpenTelemetry is loaded until then.
import { findAnyFreePort } from './find-any-free-port.ts';
import { type EngineMetrics, engineMetricsOver } from './metrics/engine-metrics.ts';
import { bindInstruments } from './metrics/instruments.ts';
import { hasOtlp } from './metrics/otlp-settings.ts';
import type { RunningTraces } from './open-telemetry-sdk.ts';

const NO_TRACES: RunningTraces = { shutdown: async () => undefined };

type RunningMetrics = {
  isOn: boolean;
  /** Where the engine's SDK is to send its own metrics; undefined: nowhere. */
  engine?: EngineMetrics | undefined;
  /** The port of /metrics, where it is served. */
  port?: number | undefined;
  /** Sends what has not been sent yet, for 5 s at most; never rejects. */
  shutdown(): Promise<void>;
};

const NO_METRICS: RunningMetrics = { isOn: false, shutdown: async () => undefined };

/**
 * Serves metrics at `port`, and pushes them over OTLP where the standard `OTEL_*` variables say so (docs/operating/metrics.md),
 * once per process. `service` is the name of the process there, unless OTEL_SERVICE_NAME says otherwise. While nobody asks
 * for metrics, no package is loaded and nothing is measured. Rejects with a sentence when the port cannot be had.
 */
export async function startMetrics(
  service: string,
  { host, port }: { host: string; port: number | undefined },
): Promise<RunningMetrics> {
  const otlp = hasOtlp(process.env);
  if (port === undefined && !otlp) return NO_METRICS;
  const { openMeterProvider } = await import('./metrics/open-meter-provider.ts');
  const { observeProcess } = await import('./metrics/observe-process.ts');
  const served = port === undefined ? undefined : { host, port, enginePort: await findAnyFreePort() };
  const provider = await openMeterProvider(service, { otlp, served });
  bindInstruments(provider.meter);
  const stopObserving = observeProcess();
  return {
    isOn: true,
    engine: engineMetricsOver(served?.enginePort, process.env, provider.attributes),
    port: provider.port,
    async shutdown() {
      await provider.shutdown();
      stopObserving();
      bindInstruments(undefined);
    },
  };
}

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
