import assert from 'node:assert/strict';
import { passthrough } from '../../blocks.ts';
import { captureLog } from '../../capture-log.ts';
import { waitUntil } from '../../wait-until.ts';
import { startTracedWeir, type TracedWeir } from './tracing-harness.ts';

const QUEUE = 50;

describe('a receiver of traces that does not answer', () => {
  let weir: TracedWeir;
  let flow: string;
  before(async () => {
    weir = await startTracedWeir({
      env: {
        OTEL_BSP_MAX_QUEUE_SIZE: String(QUEUE),
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
        OTEL_EXPORTER_OTLP_TIMEOUT: '300',
      },
    });
    flow = await weir.createFlow(weir.tenant, [passthrough('a')]);
  });
  after(() => weir.stop());

  const execute = () =>
    weir.call('POST', `${flow}/execute`, { key: weir.tenant.key, body: { message: 'm' } });

  it('fails no request, keeps a bounded number of spans, and gets those of later requests', async () => {
    const { otlp } = weir;
    const { lines, stop } = captureLog();
    const began = performance.now();
    otlp.behaviour = () => undefined;
    const answers = await Promise.all(Array.from({ length: 40 }, execute));
    for (const { status, body } of answers) assert.deepEqual([status, body.status], [200, 'completed']);
    const before = otlp.spans.length;
    otlp.behaviour = (response) => response.writeHead(503).end();
    const { body } = await execute();
    assert.equal(body.status, 'completed');
    otlp.behaviour = undefined;
    const traceIds = answers.map((answered) => answered.body.traceId);
    const later = new Set<string>();
    await waitUntil(async () => {
      later.add((await execute()).body.traceId);
      return otlp.spans.some(({ traceId }) => later.has(traceId));
    });
    const kept = otlp.spans.slice(before).filter(({ traceId }) => traceIds.includes(traceId));
    stop();
    const complaints = lines.filter(({ msg }) => msg.startsWith('OpenTelemetry has a problem;'));
    // A line a minute.
    const minutes = Math.floor((performance.now() - began) / 60_000);
    const told = JSON.stringify(complaints);
    assert(complaints.length >= 1 && complaints.length <= 1 + minutes, told);
    // Those in the queue, and a batch that was on its way.
    assert.ok(kept.length <= QUEUE + 10, `${kept.length} spans`);
  });
});
