import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type OtlpReceiver, startOtlpReceiver } from '../../fakes/otlp-receiver.ts';
import { startApiProcess } from '../../faults/api-process.ts';
import { startWeir, type Weir } from '../../harness.ts';

const TRACE_ID = 'ab'.repeat(16);

describe('traces over OTLP', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-headers-'));
  let weir: Weir;
  let receiver: OtlpReceiver;
  before(async () => {
    weir = await startWeir({ worker: false });
    receiver = await startOtlpReceiver();
  });
  after(async () => {
    await receiver.close();
    await weir.stop();
    rmSync(folder, { recursive: true });
  });

  it('are sent as protobuf unless a variable says otherwise, with the headers that a file has', async () => {
    const file = path.join(folder, 'headers');
    writeFileSync(file, 'x-test=key%20of%20a%20collector\n');
    const api = await startApiProcess(weir, {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS_FILE: file,
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_BSP_SCHEDULE_DELAY: '20',
    });
    try {
      const traceparent = `00-${TRACE_ID}-${'cd'.repeat(8)}-01`;
      const { status } = await fetch(`${api.url}/api/v1/me`, { headers: { traceparent } });
      assert.equal(status, 401);
      const spans = await receiver.traceWhen(TRACE_ID, ([span]) => span !== undefined);
      const request =
        spans.find(({ name }) => name === 'GET /api/v1/me') ?? assert.fail(JSON.stringify(spans));
      assert.equal(request.parentSpanId, 'cd'.repeat(8));
      assert.equal(request.resource['service.name'], 'weir-api');
      assert.match(String(request.resource['service.version']), /^\d+\.\d+\.\d+/);
      assert.equal(request.attributes['http.response.status_code'], '401');
      assert.deepEqual([...receiver.seen], ['application/x-protobuf key of a collector']);
    } finally {
      await api.kill();
    }
  });
});
