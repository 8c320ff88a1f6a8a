import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type OtlpMetricsReceiver, startOtlpMetricsReceiver } from '../../fakes/otlp-metrics-receiver.ts';
import { type Program, startProgram } from '../../faults/processes.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

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
      // By this one WeirNoApi knows that there is an API.
      assert.ok(!receiver.units.has('weir.http.open_requests'));
      for (const seen of receiver.seen) assert.match(seen, /^POST \/v1\/metrics application\/\S+ a b$/);
    });

  it('are pushed with the headers that a file has', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'weir-headers-'));
    const file = path.join(folder, 'headers');
    writeFileSync(file, 'x-test=from%20a%20file\n');
    try {
      worker = await start({ OTEL_EXPORTER_OTLP_HEADERS: undefined, OTEL_EXPORTER_OTLP_HEADERS_FILE: file });
      await waitUntil(
        () => receiver.units.has('weir.task_queue.backlog') && receiver.units.has('temporal_num_pollers'),
      );
      for (const seen of receiver.seen) assert.match(seen, / from a file$/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("name their process, those of the SDK too, so that two processes' do not overwrite each other", async () => {
    worker = await start();
    await waitUntil(
      () => receiver.units.has('weir.task_queue.backlog') && receiver.units.has('temporal_num_pollers'),
    );
    const [one, ...others] = receiver.processes;
    assert.match(one ?? '', /^weir-worker [0-9a-f-]{36}$/);
    assert.deepEqual(others, []);
    const second = await start({ OTEL_SERVICE_NAME: 'second' });
    try {
      await waitUntil(() => receiver.processes.size === 2);
    } finally {
      await second.kill();
    }
    assert.match([...receiver.processes][1] ?? '', /^second [0-9a-f-]{36}$/);
    assert.notEqual(one?.split(' ')[1], [...receiver.processes][1]?.split(' ')[1]);
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
    // Those of the SDK.
    await waitUntil(() => worker?.errors().includes('OTLP metric export failed'));
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
