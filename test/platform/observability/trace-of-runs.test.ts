// One trace from the request to the webhook.
import assert from 'node:assert/strict';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer } from '../../fakes/model-server.ts';
import { pathOf } from '../../fakes/otlp-receiver.ts';
import { has, MODEL, startTracedWeir, type TracedWeir } from './tracing-harness.ts';

const EXECUTE = 'POST /api/v1/seq/:org/:project/:flow/execute';
const JOBS = 'POST /api/v1/seq/:org/:project/:flow/jobs';
const WORKFLOW = 'StartWorkflow:runFlow > RunWorkflow:runFlow';

describe('the trace of a run', () => {
  let weir: TracedWeir;
  before(async () => {
    weir = await startTracedWeir();
  });
  after(() => weir.stop());

  it('leads from the request over the workflow and each block to the model, the sandbox and the database', async () => {
    const { tenant, models, otlp } = weir;
    const flow = await weir.createFlow(tenant, [
      llm('ask', '{{message}}', MODEL),
      code('compute', 'return input.length'),
      passthrough('pass'),
    ]);
    models.will(answer('an answer'));
    const { key } = tenant;
    const { body, headers } = await weir.call('POST', `${flow}/execute`, { key, body: { message: 'm' } });
    const spans = await otlp.traceWhen(body.traceId, has(EXECUTE, 'RunWorkflow:runFlow'));
    const paths = spans.map((span) => pathOf(spans, span));
    for (const path of [
      EXECUTE,
      `${EXECUTE} > INSERT run`,
      `${EXECUTE} > ${WORKFLOW} > RunActivity:callModel > chat gpt-4o-mini`,
      `${EXECUTE} > ${WORKFLOW} > RunActivity:callModel > SELECT record_block_run`,
    ])
      assert.ok(paths.includes(path), `${path} is not in\n${paths.join('\n')}`);
    // The other blocks are run by activities of their own, or by that of the one before.
    assert.match(paths.join('\n'), /> RunActivity:(callModel > RunBlock:code|runCode) > sandbox\n/);
    const blocks = new Set(spans.flatMap((span) => span.attributes?.['weir.block.key'] ?? []));
    assert.deepEqual([...blocks].toSorted(), ['ask', 'compute', 'pass']);
    assert.deepEqual(
      paths.filter((path) => !path.startsWith(EXECUTE)),
      [],
    );
    assert.match(headers.get('traceresponse') ?? '', new RegExp(`^00-${body.traceId}-[0-9a-f]{16}-01$`));
    const chat = spans.find(({ name }) => name === 'chat gpt-4o-mini');
    const asked = models.calls.at(-1)?.headers.traceparent;
    assert.equal(asked, `00-${body.traceId}-${chat?.spanId}-01`);
    const { attributes } = chat ?? {};
    assert.deepEqual(
      [attributes?.['gen_ai.request.model'], attributes?.['gen_ai.usage.output_tokens'], chat?.kind],
      ['gpt-4o-mini', 5, 3],
    );
  });

  it('goes on to the attempts of the webhook, whose receiver gets its traceparent', async () => {
    const { tenant, otlp, hooks } = weir;
    const flow = await weir.createFlow(tenant, [passthrough('pass')]);
    const [hook] = hooks;
    assert.ok(hook);
    const id = await weir.startJob(tenant, flow, hook);
    const { body } = await weir.finish(flow, id, tenant.key);
    const [received] = await hook.arrivalsOf(id);
    const spans = await otlp.traceWhen(body.traceId, has('POST', 'RunWorkflow:deliverWebhook', JOBS));
    const attempt = spans.find(({ name }) => name === 'POST');
    assert.ok(attempt);
    assert.equal(
      pathOf(spans, attempt),
      `${JOBS} > ${WORKFLOW} > RunWorkflow:deliverWebhook > RunActivity:attemptDelivery > POST`,
    );
    assert.equal(received?.headers.traceparent, `00-${body.traceId}-${attempt.spanId}-01`);
  });
});
