import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics';

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The end of a name in Prometheus, by unit. A count of things, in braces, has nothing. */
const SUFFIXES: { [unit: string]: string } = { s: '_seconds', By: '_bytes', 1: '_ratio' };
const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);

/**
 * Writes metrics in the text format of Prometheus, with the names that a collector would give them: the unit comes last,
 * which OpenTelemetry's own exporter omits.
 */
export function writePrometheus({ resource, scopeMetrics }: ResourceMetrics): string {
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
