// What traces say of runs that branch, fail, pause, are cancelled or lose their worker.
import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { asking, resultsOf, resumeOf, toolCall, weather } from '../../api/runs/tool-calls-harness.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer, callTools, hang, respond } from '../../fakes/model-server.ts';
import { pathOf, type ReceivedSpan } from '../../fakes/otlp-receiver.ts';
import { has, MODEL, startTracedWeir, type TracedWeir } from './tracing-harness.ts';

const SEQ = '/api/v1/seq/:org/:project/:flow';
const EXECUTE = `POST ${SEQ}/execute`;
const RUN = 'RunWorkflow:runFlow';

describe('the trace of a run that', () => {
  let weir: TracedWeir;
  before(async () => {
    weir = await startTracedWeir();
  });
  after(() => weir.stop());

  async function execute(steps: Step[], body: object = { message: 'SECRETMESSAGE' }) {
    const flow = await weir.createFlow(weir.tenant, steps);
    const answered = await weir.call('POST', `${flow}/execute`, { key: weir.tenant.key, body });
    const spans = await weir.otlp.traceWhen(answered.body.traceId, has(EXECUTE, RUN));
    return { flow, body: answered.body, spans };
  }

  const blocksOf = (spans: ReceivedSpan[]) =>
    spans
      .filter(({ name }) => name.startsWith('RunActivity:'))
      .map((span) => {
        assert.equal(pathOf(spans, span), `${EXECUTE} > StartWorkflow:runFlow > ${RUN} > ${span.name}`);
        return span.attributes['weir.block.key'];
      })
      .filter((key) => key !== undefined);

  it('has parallel and loop steps has a span for each block execution', async () => {
    const { spans } = await execute([
      {
        type: 'parallel',
        step_id: 'p',
        name: 'p',
        branches: { left: [passthrough('l')], right: [code('r', 'return [1, 2];')] },
      },
      code('list', 'return [1, 2];'),
      { type: 'loop', step_id: 'each', name: 'each', max_iterations: 2, body: [passthrough('item')] },
    ]);
    const keys = blocksOf(spans) as string[];
    assert.equal(new Set(keys).size, 5, keys.join(' '));
  });

  it('fails at a block names the error by its code alone', async () => {
    const { body, spans } = await execute([code('fail', 'throw new Error("SECRETERROR");')]);
    assert.equal(body.status, 'failed');
    for (const name of ['RunActivity:runCode', RUN]) {
      const span = spans.find((each) => each.name === name);
      assert.deepEqual([span?.status?.code, span?.attributes['error.type']], [2, 'CODE_ERROR'], name);
    }
  });

  it('asks a model twice has a span for each request, the failed one with the status of its answer', async () => {
    weir.models.will(respond(503, { error: { message: 'SECRETERROR' } }), answer('a'));
    const { body, spans } = await execute([llm('ask', 'SECRETPROMPT', MODEL)]);
    assert.equal(body.status, 'completed');
    const chats = spans.filter(({ name }) => name === 'chat gpt-4o-mini');
    assert.deepEqual(
      chats.map(({ attributes }) => attributes['error.type']),
      ['503', undefined],
    );
  });

  it('pauses for tools is that of its first call, to which the resume is linked', async () => {
    weir.models.will(callTools([toolCall('c1')]), answer('done'));
    const first = await execute([asking('ask')], { message: 'SECRETMESSAGE', tools: [weather] });
    assert.equal(first.body.status, 'tool_calls_required');
    const { key } = weir.tenant;
    const resumed = await weir.call('POST', `${first.flow}/execute`, {
      key,
      body: resumeOf(first.body, resultsOf(first.body)),
    });
    assert.equal(resumed.body.status, 'completed');
    assert.notEqual(resumed.body.traceId, first.body.traceId);
    const spans = await weir.otlp.traceWhen(resumed.body.traceId, has(EXECUTE, RUN));
    const links = spans.find(({ name }) => name === EXECUTE)?.links?.map(({ traceId }) => traceId);
    assert.deepEqual(links, [first.body.traceId]);
    const read = await weir.call('GET', `${first.flow}/jobs/${first.body.executionId}`, { key });
    assert.equal(read.body.traceId, first.body.traceId);
  });

  it('runs a stored one again is told by the answer, and is not that of the first', async () => {
    const { key } = weir.tenant;
    const first = await execute([code('fail', 'throw new Error("SECRETERROR");')]);
    for (const how of ['retry', 'rerun']) {
      const path = `${first.flow}/jobs/${first.body.executionId}/${how}`;
      const again = { key, headers: { 'idempotency-key': how } };
      const { status, body } = await weir.call('POST', path, again);
      assert.equal(status, 202);
      assert.notEqual(body.traceId, first.body.traceId);
      await weir.otlp.traceWhen(body.traceId, has(RUN));
      const { body: state } = await weir.finish(first.flow, body.executionId, key);
      assert.equal(state.traceId, body.traceId);
      assert.equal((await weir.call('POST', path, again)).body.traceId, body.traceId);
    }
  });

  it('is a session has a trace for each call of /step, linked to the first one', async () => {
    const { key } = weir.tenant;
    const flow = await weir.createFlow(weir.tenant, [passthrough('a'), passthrough('b')]);
    const step = async (body: object) => {
      const response = await fetch(`${weir.url}/api/v1/seq/${flow}/step`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      return {
        executionId: /"executionId":"([^"]+)"/.exec(text)?.[1],
        traceId: response.headers.get('traceresponse')?.split('-')[1] ?? '',
      };
    };
    const first = await step({ executionId: null, stepIndex: 0, message: 'SECRETMESSAGE' });
    const second = await step({
      executionId: first.executionId,
      stepIndex: 1,
      accumulatedOutputs: { a: 'x' },
    });
    const server = `POST ${SEQ}/step`;
    await weir.otlp.traceWhen(first.traceId, has(server, RUN, 'RunActivity:passThrough'));
    const spans = await weir.otlp.traceWhen(second.traceId, has(server, RUN, 'RunActivity:passThrough'));
    const links = spans.find(({ name }) => name === server)?.links?.map(({ traceId }) => traceId);
    assert.deepEqual(links, [first.traceId]);
  });

  it('is cancelled says so', async () => {
    const { key } = weir.tenant;
    const flow = await weir.createFlow(weir.tenant, [llm('ask', 'SECRETPROMPT', MODEL)]);
    weir.models.will(hang);
    const asked = weir.models.nextCall();
    const { body } = await weir.call('POST', `${flow}/jobs`, { key, body: { message: 'SECRETMESSAGE' } });
    await asked;
    await weir.call('POST', `${flow}/jobs/${body.executionId}/cancel`, { key });
    const spans = await weir.otlp.traceWhen(body.traceId, has(RUN, `chat gpt-4o-mini`));
    assert.equal(spans.find(({ name }) => name === RUN)?.attributes['error.type'], 'CANCELLED');
  });

  it('is any of these has no secret and no content in it', () => {
    const { url, spans, text } = weir.otlp;
    assert.ok(spans.length > 50, `${spans.length} spans at ${url}`);
    const sent = text();
    for (const secret of ['SECRET', weir.tenant.key, weir.models.provider.apiKey, 'Bearer', 'get_weather'])
      assert.equal(sent.includes(secret), false, secret);
  });
});
