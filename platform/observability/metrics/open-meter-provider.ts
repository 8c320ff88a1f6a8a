// The only file that loads OpenTelemetry's packages for metrics.
import type { Meter } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import {
  AggregationTemporality,
  type AggregationTemporalitySelector,
  type IMetricReader,
  InstrumentType,
  MeterProvider,
  type MetricData,
  MetricReader,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { detectProcess, logDiagnostics, waitForShutdown } from '../open-telemetry.ts';
import { type OperatorServer, serveOperators } from '../operator-server.ts';
import { readEngineMetrics } from './engine-metrics.ts';
import { EXPORT_INTERVAL_MS, otlpMilliseconds, otlpProtocol } from './otlp-settings.ts';

const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The end of a name in Prometheus, by unit. A count of things, in braces, has nothing. */
const SUFFIXES: { [unit: string]: string } = { s: '_seconds', By: '_bytes', 1: '_ratio' };
const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);

const EXPORT_TIMEOUT_MS = 30_000;

/** A reader that sends nothing: it is asked for metrics. */
class ScrapedReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/** Where /metrics is served, with those of the SDK at `enginePort` of this machine. */
type Served = { host: string; port: number; enginePort: number };

type OpenMeterProvider = {
  meter: Meter;
  /** The names of the process, which all its metrics are to have. */
  attributes: { [name: string]: string };
  /** The port of /metrics, where it is served. */
  port: number | undefined;
  shutdown(): Promise<void>;
};

/** Opens the provider of this process's meter. An exporter that fails is logged, and nothing else. */
export async function openMeterProvider(
  service: string,
  { otlp, served }: { otlp: boolean; served: Served | undefined },
): Promise<OpenMeterProvider> {
  logDiagnostics();
  // A reader that nobody reads would keep all there is to read.
  const scraped = served && new ScrapedReader({ aggregationTemporalitySelector: onlyWhatIsObserved() });
  const readers: IMetricReader[] = scraped ? [scraped] : [];
  if (otlp) readers.push(await createPushingReader());
  const resource = await detectProcess(service);
  const provider = new MeterProvider({ resource, readers });
  const server = scraped && (await serve(scraped, served));
  return {
    meter: provider.getMeter('weir'),
    attributes: Object.fromEntries(
      Object.entries(resource.attributes).map(([name, value]) => [name, String(value)]),
    ),
    port: server?.port,
    async shutdown() {
      await server?.close();
      await waitForShutdown(provider.shutdown().catch(() => undefined));
    },
  };
}

/** Serves /metrics. Those who ask at the same time get the same text. */
function serve(scraped: MetricReader, { enginePort, ...address }: Served): Promise<OperatorServer> {
  let writing: Promise<string> | undefined;
  async function write(): Promise<string> {
    const engine = await readEngineMetrics(enginePort);
    const { resourceMetrics } = await scraped.collect();
    return writePrometheus(resourceMetrics) + engine;
  }
  return serveOperators(
    { ...address, variable: 'WEIR_METRICS_PORT' },
    {
      '/metrics': async () => {
        writing ??= write().finally(() => {
          writing = undefined;
        });
        return { type: PROMETHEUS_TYPE, body: await writing };
      },
    },
  );
}

/**
 * Drops gauges without a new observation. Otherwise a reader merges each reading with earlier readings, and repeats the
 * last value until the process ends.
 */
export function onlyWhatIsObserved(
  otherwise?: AggregationTemporalitySelector,
): AggregationTemporalitySelector {
  return (type) => {
    if (type === InstrumentType.OBSERVABLE_GAUGE) return AggregationTemporality.DELTA;
    return otherwise?.(type) ?? AggregationTemporality.CUMULATIVE;
  };
}

/** Creates the reader that pushes metrics; its exporter reads the other standard variables itself. */
async function createPushingReader(): Promise<IMetricReader> {
  const { env } = process;
  const exportIntervalMillis = otlpMilliseconds(env.OTEL_METRIC_EXPORT_INTERVAL, EXPORT_INTERVAL_MS);
  const timeout = otlpMilliseconds(env.OTEL_METRIC_EXPORT_TIMEOUT, EXPORT_TIMEOUT_MS);
  const exporter = await createExporter();
  exporter.selectAggregationTemporality = onlyWhatIsObserved(
    exporter.selectAggregationTemporality?.bind(exporter),
  );
  return new PeriodicExportingMetricReader({
    exporter,
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

/**
 * Writes metrics in the text format of Prometheus, with the names that a collector would give them: the unit comes last,
 * which OpenTelemetry's own exporter omits.
 */
function writePrometheus({ resource, scopeMetrics }: ResourceMetrics): string {
  return serializer.serialize({
    resource,
    scopeMetrics: scopeMetrics.map(({ scope, metrics }) => ({ scope, metrics: metrics.map(withUnit) })),
  });
}

function withUnit(metric: MetricData): MetricData {
  const { descriptor } = metric;
  const name = descriptor.name + (SUFFIXES[descriptor.unit] ?? '');
  return { ...metric, descriptor: { ...descriptor, name } } as MetricData;
}
