// Tool calls of a model that nobody can run are not handed out; a run that fails of them goes on from its last pause.
import assert from 'node:assert/strict';
import { answer, callTools, respond } from '../../fakes/model-server.ts';
import {
  asking,
  type Body,
  CALL_MICROCREDITS,
  resumeOf,
  toolCall,
  useToolCalls,
} from './tool-calls-harness.ts';

const bad = callTools([toolCall('b', '{}', 'get_wether')]);
const good = callTools([toolCall('c')]);

describe('tool calls that nobody can run', () => {
  const h = useToolCalls();
  let flow: string;
  before(async () => {
    flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
  });
  const roles = (messages: Body[]) => messages.map(({ role }) => role).join(' ');

  it('are answered within the block, are in the next pause, and count as rounds', async () => {
    h.models.will(good, bad, good, answer('sunny'));
    const first = await h.pause(flow);
    const { body: second } = await h.execute(flow, resumeOf(first));
    assert.deepEqual([second.status, second.iterationsUsed], ['tool_calls_required', 3]);
    assert.equal(roles(second.toolCallMessages), 'user assistant tool assistant tool assistant');
    assert.match(
      second.toolCallMessages[4].content,
      /There is no tool "get_wether"\. The tools are get_weather\./,
    );
    assert.deepEqual(second.toolCalls, [toolCall('c')]);
    const { resumeState } = second;
    assert.equal((await h.execute(flow, { ...resumeOf(second), resumeState })).body.result, 'sunny');
    assert.deepEqual(
      await h.charges(first.executionId),
      [1, 2, 1].map((calls) => calls * CALL_MICROCREDITS),
    );
  });

  it('count as rounds in a repeated answer too', async () => {
    h.models.will(bad, bad, good);
    const headers = { 'idempotency-key': 'twice' };
    const { body } = await h.execute(flow, {}, { headers });
    assert.equal(body.iterationsUsed, 3);
    assert.equal((await h.execute(flow, {}, { headers })).body.iterationsUsed, 3);
  });

  it('are paid once where the provider refuses the request after them', async () => {
    h.models.will(bad, respond(503, { error: { message: 'overloaded' } }, { 'retry-after': '0' }), good);
    const { body } = await h.execute(flow);
    assert.equal(body.iterationsUsed, 2, JSON.stringify(body));
    assert.deepEqual(h.models.calls[2]?.body.messages, h.models.calls[1]?.body.messages);
    assert.deepEqual(await h.charges(body.executionId), [2 * CALL_MICROCREDITS]);
  });

  it('fail the run after some answers, all of them charged, and the same resume goes on from its pause', async () => {
    h.models.will(good, ...Array(5).fill(bad));
    const paused = await h.pause(flow);
    const { body: failed } = await h.execute(flow, resumeOf(paused));
    assert.deepEqual([failed.status, failed.code], ['failed', 'MODEL_OUTPUT_INVALID']);
    h.models.will(answer('sunny'));
    const again = await h.execute(flow, resumeOf(paused));
    assert.equal(again.body.result, 'sunny', JSON.stringify(again.body));
    assert.deepEqual(h.models.calls.at(-1)?.body.messages, resumeOf(paused).toolCallMessages);
    const replayed = await h.execute(flow, resumeOf(paused));
    assert.deepEqual([replayed.body.result, replayed.headers.get('idempotent-replayed')], ['sunny', 'true']);
    assert.deepEqual(
      await h.charges(paused.executionId),
      [1, 5, 1].map((calls) => calls * CALL_MICROCREDITS),
    );
  });

  it('end at max_tool_iterations', async () => {
    const capped = await h.weir.createFlow(h.tenant, [
      asking('ask', 'x', { processor_config: { max_tool_iterations: 2 } }),
    ]);
    h.models.will(good, bad, bad);
    const { body } = await h.execute(capped, resumeOf(await h.pause(capped)));
    assert.deepEqual([body.status, body.code], ['failed', 'MODEL_OUTPUT_INVALID']);
    assert.match(body.errorMessage, /in 2 answers in a row/);
  });

  it('have empty arguments filled in, for the caller and for the model', async () => {
    for (const args of ['', '   ']) {
      h.models.will(callTools([toolCall('c', args)]), answer('sunny'));
      const paused = await h.pause(flow);
      assert.equal(paused.toolCalls[0].function.arguments, '{}');
      await h.execute(flow, resumeOf(paused));
      const { messages }: Body = h.models.calls.at(-1)?.body ?? {};
      assert.deepEqual(messages[1].tool_calls, [toolCall('c', '{}')]);
    }
  });
});
