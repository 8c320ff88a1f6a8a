// The trace of a caller goes on here; what is not a trace, or too much of one, is left out.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { llm } from '../../blocks.ts';
import { captureLog } from '../../capture-log.ts';
import { answer } from '../../fakes/model-server.ts';
import { waitUntil } from '../../wait-until.ts';
import { has, MODEL, startTracedWeir, type TracedWeir } from './tracing-harness.ts';

const EXECUTE = 'POST /api/v1/seq/:org/:project/:flow/execute';
const CALLERS = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

describe('the traceparent of a caller', () => {
  let weir: TracedWeir;
  let flow: string;
  before(async () => {
    weir = await startTracedWeir();
    flow = await weir.createFlow(weir.tenant, [llm('ask', '{{message}}', MODEL)]);
  });
  after(() => weir.stop());

  async function execute(headers: Record<string, string>) {
    weir.models.will(answer('a'));
    const { key } = weir.tenant;
    const answered = await weir.call('POST', `${flow}/execute`, { key, headers, body: { message: 'm' } });
    assert.equal(answered.body.status, 'completed', JSON.stringify(answered.body));
    return { ...answered, asked: weir.models.calls.at(-1)?.headers ?? {} };
  }

  it('is taken over with its tracestate, and handed on to models', async () => {
    const { body, asked } = await execute({
      traceparent: `00-${CALLERS}-${PARENT}-01`,
      tracestate: 'vendor=opaque',
    });
    assert.equal(body.traceId, CALLERS);
    assert.match(asked.traceparent as string, new RegExp(`^00-${CALLERS}-[0-9a-f]{16}-01$`));
    assert.equal(asked.tracestate, 'vendor=opaque');
    const spans = await weir.otlp.traceWhen(CALLERS, has(EXECUTE));
    assert.equal(spans.find(({ name }) => name === EXECUTE)?.parentSpanId, PARENT);
  });

  it('that is not sampled makes no spans, and is handed on as it is', async () => {
    const traceId = CALLERS.replace('4', '5');
    const { body, asked } = await execute({ traceparent: `00-${traceId}-${PARENT}-00` });
    assert.equal(body.traceId, traceId);
    assert.match(asked.traceparent as string, new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
    // The spans of a later request arrive, and none of this one.
    const later = await execute({});
    await weir.otlp.traceWhen(later.body.traceId, has(EXECUTE, 'RunWorkflow:runFlow'));
    assert.deepEqual(
      weir.otlp.spans.filter((span) => span.traceId === traceId),
      [],
    );
  });

  const HOSTILE: { [what: string]: Record<string, string> } = {
    'is not one': { traceparent: 'x'.repeat(4_000) },
    'has an id of zeros': { traceparent: `00-${'0'.repeat(32)}-${PARENT}-01` },
    'has a version that does not exist': { traceparent: `ff-${CALLERS}-${PARENT}-01` },
    'comes with text after it': { traceparent: `00-${CALLERS}-${PARENT}-01-more` },
    'has capital letters and SQL in it': { traceparent: `00-${CALLERS.toUpperCase()}-';drop table run--01` },
  };
  for (const [what, headers] of Object.entries(HOSTILE))
    it(`begins a trace anew when it ${what}`, async () => {
      const { body, asked } = await execute(headers);
      assert.match(body.traceId, /^[0-9a-f]{32}$/);
      assert.notEqual(body.traceId, CALLERS);
      assert.match(asked.traceparent as string, new RegExp(`^00-${body.traceId}-[0-9a-f]{16}-01$`));
    });

  it('begins a trace anew when it is sent twice', async () => {
    weir.models.will(answer('a'));
    const twice = await new Promise<string>((resolve, reject) => {
      const sent = request(
        `${weir.url}/api/v1/seq/${flow}/execute`,
        {
          method: 'POST',
          headers: {
            authorization: `Bearer ${weir.tenant.key}`,
            'content-type': 'application/json',
            traceparent: [`00-${CALLERS}-${PARENT}-01`, `00-${CALLERS}-${PARENT}-01`],
          },
        },
        (response) => resolve(String(response.headers.traceresponse)),
      );
      sent.on('error', reject).end(JSON.stringify({ message: 'm' }));
    });
    assert.doesNotMatch(twice, new RegExp(CALLERS));
  });

  it('goes on without a tracestate that is too long, and never with baggage', async () => {
    const members = Array.from({ length: 1_000 }, (_, index) => `k${index}=v`).join(',');
    const traceId = CALLERS.replace('4', '6');
    const { body, asked } = await execute({
      traceparent: `00-${traceId}-${PARENT}-01`,
      tracestate: members,
      baggage: members.slice(0, 3_000),
    });
    assert.equal(body.traceId, traceId);
    assert.deepEqual([asked.tracestate, asked.baggage], [undefined, undefined]);
    const { trace_context: stored } = await weir.db
      .selectFrom('run')
      .select('trace_context')
      .where('execution_id', '=', body.executionId)
      .executeTakeFirstOrThrow();
    assert.ok(JSON.stringify(stored).length < 700);
  });

  it('is in the lines of the log', async () => {
    const { lines, stop } = captureLog();
    try {
      const { body } = await execute({});
      const line = await waitUntil(() => lines.find(({ msg }) => msg === 'Request'));
      assert.equal(line.trace_id, body.traceId);
      assert.match(String(line.span_id), /^[0-9a-f]{16}$/);
    } finally {
      stop();
    }
  });
});
