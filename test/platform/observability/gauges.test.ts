import assert from 'node:assert/strict';
import { findFreePort } from '../../../dev/processes/ports.ts';
import { gauge, type Reading } from '../../../platform/observability/metrics/instruments.ts';
import { startMetrics } from '../../../platform/observability/start-telemetry.ts';
import { startOtlpMetricsReceiver } from '../../fakes/otlp-metrics-receiver.ts';
import { waitUntil } from '../../wait-until.ts';

describe('a gauge', () => {
  const host = '127.0.0.1';
  const tried = gauge({
    name: 'weir.tried',
    unit: '{thing}',
    description: 'For this test.',
    labels: ['part'],
  });
  let readings: Reading<'part'>[];
  let end: () => void;
  beforeEach(() => {
    readings = [
      { value: 3, labels: { part: 'a' } },
      { value: 4, labels: { part: 'b' } },
    ];
    end = tried.observe(() => readings);
  });
  afterEach(() => end());

  it('that is observed no more is not served again', async () => {
    const port = await findFreePort();
    const metrics = await startMetrics('weir-test', { host, port });
    const scrape = async () => {
      const text = await (await fetch(`http://${host}:${port}/metrics`)).text();
      return text.split('\n').filter((line) => line.startsWith('weir_tried'));
    };
    try {
      assert.deepEqual(await scrape(), ['weir_tried{part="a"} 3', 'weir_tried{part="b"} 4']);
      readings = [{ value: 5, labels: { part: 'b' } }];
      assert.deepEqual(await scrape(), ['weir_tried{part="b"} 5']);
      readings = [];
      assert.deepEqual(await scrape(), []);
    } finally {
      await metrics.shutdown();
    }
  });

  it('that is observed no more is not pushed again', async () => {
    const receiver = await startOtlpMetricsReceiver();
    const variables = {
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${receiver.url}/v1/metrics`,
      OTEL_METRIC_EXPORT_INTERVAL: '500',
    };
    const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
    Object.assign(process.env, variables);
    const metrics = await startMetrics('weir-test', { host, port: undefined });
    try {
      await waitUntil(() => receiver.units.has('weir.tried'));
      readings = [];
      // The first push from here may have been read before.
      for (const _ of [1, 2]) {
        receiver.units.clear();
        await waitUntil(() => receiver.units.has('process.memory.usage'));
      }
      assert.ok(!receiver.units.has('weir.tried'));
    } finally {
      await metrics.shutdown();
      for (const [name, value] of before)
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      await receiver.close();
    }
  });
});
