import { DataPointType, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { bindInstruments } from '../platform/observability/metrics/instruments.ts';
import { onlyWhatIsObserved } from '../platform/observability/metrics/open-meter-provider.ts';

class Reader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/** Has this process measure, until `stop` is called. */
export function captureMetrics(): {
  /** Reads a metric: its values by their labels (`a=b,c=d`), counts for a histogram. */
  read(name: string): Promise<{ [labels: string]: number }>;
  stop(): void;
} {
  const reader = new Reader({ aggregationTemporalitySelector: onlyWhatIsObserved() });
  bindInstruments(new MeterProvider({ readers: [reader] }).getMeter('test'));
  return {
    async read(name) {
      const { resourceMetrics } = await reader.collect();
      const metrics = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
      const metric = metrics.find(({ descriptor }) => descriptor.name === name);
      const points =
        metric?.dataPointType === DataPointType.HISTOGRAM
          ? metric.dataPoints.map(({ attributes, value }) => ({ attributes, value: value.count }))
          : (metric?.dataPoints ?? []);
      return Object.fromEntries(
        points.map(({ attributes, value }) => [
          Object.entries(attributes)
            .map(([label, of]) => `${label}=${of}`)
            .join(),
          value as number,
        ]),
      );
    },
    stop: () => bindInstruments(undefined),
  };
}
