import assert from 'node:assert/strict';
import { type OtlpMetricsReceiver, startOtlpMetricsReceiver } from '../fakes/otlp-metrics-receiver.ts';
import { type Program, startProgram } from '../faults/processes.ts';
import { startWeir, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';

describe('metrics over OTLP', () => {
  let weir: Weir;
  let receiver: OtlpMetricsReceiver;
  let worker: Program | undefined;
  before(async () => {
    weir = await startWeir({ worker: false });
  });
  beforeEach(async () => {
    receiver = await startOtlpMetricsReceiver();
  });
  afterEach(async () => {
    await worker?.kill();
    worker = undefined;
    await receiver.close();
  });
  after(() => weir.stop());

  const start = (env: NodeJS.ProcessEnv = {}) =>
    startProgram(weir, 'worker/worker.ts', {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-test=a%20b',
      OTEL_METRIC_EXPORT_INTERVAL: '500',
      OTEL_TRACES_EXPORTER: 'none',
      ...env,
    });

  for (const protocol of ['http/protobuf', 'http/json'])
    it(`are pushed with ${protocol}, those of the SDK too, under the standard variables`, async () => {
      worker = await start({ OTEL_EXPORTER_OTLP_PROTOCOL: protocol });
      await waitUntil(
        () => receiver.units.has('weir.task_queue.backlog') && receiver.units.has('temporal_num_pollers'),
      );
      assert.equal(receiver.units.get('weir.webhook.oldest_due_age'), 's');
      assert.ok(receiver.services.has('weir-worker'), [...receiver.services].join());
      for (const seen of receiver.seen) assert.match(seen, /^POST \/v1\/metrics application\/\S+ a b$/);
    });

  it('are not pushed when OTEL_METRICS_EXPORTER is none', async () => {
    worker = await start({ OTEL_METRICS_EXPORTER: 'none' });
    assert.equal(await worker.stop(), 0);
    assert.equal(receiver.units.size, 0);
  });

  it('are missed in words when nobody receives them', async () => {
    receiver.behaviour = (response) => response.writeHead(400).end();
    worker = await start();
    await waitUntil(() => worker?.errors().includes('OpenTelemetry has a problem'));
  });

  it('do not keep a worker from ending whose receiver hangs', async () => {
    let asked = 0;
    receiver.behaviour = () => {
      asked += 1;
    };
    worker = await start();
    await waitUntil(() => asked > 0);
    assert.equal(await worker.stop(), 0);
  });
});
