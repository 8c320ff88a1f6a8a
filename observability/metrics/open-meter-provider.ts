// The only file that loads OpenTelemetry's packages for metrics.
import type { Meter } from '@opentelemetry/api';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  type IMetricReader,
  MeterProvider,
  MetricReader,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { ATTR_SERVICE_NAME } from '@opentelemetry/semantic-conventions';
import { logDiagnostics } from '../diagnostics-logger.ts';
import { type OperatorServer, serveOperators } from '../operator-server.ts';
import { waitBriefly } from '../wait-briefly.ts';
import { readEngineMetrics } from './engine-metrics.ts';
import { EXPORT_INTERVAL_MS, otlpMilliseconds, otlpProtocol } from './otlp-settings.ts';
import { PROMETHEUS_TYPE, writePrometheus } from './write-prometheus.ts';

const EXPORT_TIMEOUT_MS = 30_000;

/** A reader that sends nothing: it is asked for metrics. */
class ScrapedReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

type OpenMeterProvider = {
  meter: Meter;
  /** Serves /metrics, with those of the SDK at `enginePort` of this machine. */
  serve(address: { host: string; port: number }, enginePort: number | undefined): Promise<OperatorServer>;
  shutdown(): Promise<void>;
};

/** Opens the provider of this process's meter. An exporter that fails is logged, and nothing else. */
export async function openMeterProvider(
  service: string,
  { otlp }: { otlp: boolean },
): Promise<OpenMeterProvider> {
  logDiagnostics();
  const scraped = new ScrapedReader();
  const readers: IMetricReader[] = [scraped];
  if (otlp) readers.push(await createPushingReader());
  const resource = defaultResource()
    .merge(resourceFromAttributes({ [ATTR_SERVICE_NAME]: service }))
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new MeterProvider({ resource, readers });

  async function write(enginePort: number | undefined): Promise<string> {
    const engine = enginePort === undefined ? '' : await readEngineMetrics(enginePort);
    const { resourceMetrics } = await scraped.collect();
    return writePrometheus(resourceMetrics) + engine;
  }

  return {
    meter: provider.getMeter('weir'),
    serve(address, enginePort) {
      let writing: Promise<string> | undefined;
      return serveOperators(
        { ...address, variable: 'WEIR_METRICS_PORT' },
        {
          '/metrics': async () => {
            // Those who ask at the same time get the same text.
            writing ??= write(enginePort).finally(() => {
              writing = undefined;
            });
            return { type: PROMETHEUS_TYPE, body: await writing };
          },
        },
      );
    },
    async shutdown() {
      await waitBriefly(provider.shutdown().catch(() => undefined));
    },
  };
}

/** Creates the reader that pushes metrics; its exporter reads the other standard variables itself. */
async function createPushingReader(): Promise<IMetricReader> {
  const { env } = process;
  const exportIntervalMillis = otlpMilliseconds(env.OTEL_METRIC_EXPORT_INTERVAL, EXPORT_INTERVAL_MS);
  const timeout = otlpMilliseconds(env.OTEL_METRIC_EXPORT_TIMEOUT, EXPORT_TIMEOUT_MS);
  return new PeriodicExportingMetricReader({
    exporter: await createExporter(),
    exportIntervalMillis,
    exportTimeoutMillis: Math.min(timeout, exportIntervalMillis),
  });
}

async function createExporter(): Promise<PushMetricExporter> {
  switch (otlpProtocol(process.env)) {
    case 'grpc':
      return new (await import('@opentelemetry/exporter-metrics-otlp-grpc')).OTLPMetricExporter();
    case 'http/json':
      return new (await import('@opentelemetry/exporter-metrics-otlp-http')).OTLPMetricExporter();
    case 'http/protobuf':
      return new (await import('@opentelemetry/exporter-metrics-otlp-proto')).OTLPMetricExporter();
  }
}
