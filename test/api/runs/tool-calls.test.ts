import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import {
  asking,
  type Body,
  MODEL,
  resultsOf,
  resumeOf,
  toolCall,
  useToolCalls,
} from './tool-calls-harness.ts';

describe('tool calls of /execute', () => {
  const h = useToolCalls();
  const asked = (index: number): Body => h.models.calls[index]?.body;

  describe('a pause', () => {
    it('answers the fields of the interface, resumeState and a receipt beside them, and no result', async () => {
      const flow = await h.weir.createFlow(h.tenant, [
        code('prepare', 'return { city: message };'),
        asking('ask', 'Weather of {{previous_output}}'),
        passthrough('end'),
      ]);
      h.models.will(callTools([toolCall('c1'), toolCall('c2', '{"city":"Rome"}')], 'Let me look.'));
      const { status, body } = await h.execute(flow);
      assert.equal(status, 200);
      const { executionId, flowId, resumeState, cost, blocks: ran, ...rest } = body;
      assert.deepEqual(
        [cost > 0, ran.map(({ key, status: state }: Body) => [key, state])],
        [
          true,
          [
            ['prepare', 'completed'],
            ['ask', 'paused'],
          ],
        ],
      );
      assert.match(executionId, /^[0-9a-f-]{36}$/);
      assert.match(flowId, /^[0-9a-f-]{36}$/);
      assert.match(resumeState, /^[\w-]+\.[\w-]+\.[\w-]+$/);
      const toolCalls = [toolCall('c1'), toolCall('c2', '{"city":"Rome"}')];
      assert.deepEqual(rest, {
        status: 'tool_calls_required',
        pausedAtStep: 'ask',
        iterationsUsed: 1,
        toolCallMessages: [
          { role: 'user', content: 'Weather of {"city":"Paris?"}' },
          { role: 'assistant', content: 'Let me look.', tool_calls: toolCalls },
        ],
        toolCalls,
        accumulatedOutputs: { prepare: { city: 'Paris?' } },
        blockCount: 3,
      });
    });

    it('goes on with the conversation and the results, and does not run again what was before', async () => {
      const flow = await h.weir.createFlow(h.tenant, [
        code('prepare', 'return Math.random();'),
        asking('ask'),
        llm('after', 'After: {{previous_output}} of {{message}}', MODEL),
      ]);
      h.models.will(callTools([toolCall('a'), toolCall('b')]), answer('Sunny'), answer('Done'));
      const paused = await h.pause(flow);
      // In any order; the message of a resume is ignored.
      const resume = resumeOf(paused, resultsOf(paused).reverse());
      const { status, body } = await h.execute(flow, { ...resume, message: ['something', 'else'] });
      assert.equal(status, 200);
      const { blocks: receipt, cost, ...rest } = body;
      assert.deepEqual(rest, {
        executionId: paused.executionId,
        status: 'completed',
        result: 'Done',
        flowId: paused.flowId,
        blockCount: 3,
      });
      assert(cost > paused.cost);
      assert.equal(receipt.length, 4);
      assert.deepEqual(asked(1).messages, resume.toolCallMessages);
      assert.equal(asked(2).messages[0].content, 'After: Sunny of Paris?');
      assert.equal(h.models.calls.length, 3);
      const { blocks } = (await h.read(flow, paused.executionId)).body;
      assert.deepEqual(
        blocks.map(({ key, status }: Body) => [key, status]),
        [
          ['prepare', 'completed'],
          ['ask', 'paused'],
          ['ask', 'completed'],
          ['after', 'completed'],
        ],
      );
      assert.equal((await h.charges(paused.executionId)).length, 3);
    });

    it('carries the outputs as the caller sends them', async () => {
      const flow = await h.weir.createFlow(h.tenant, [code('a', 'return 1;'), asking('b'), asking('c')]);
      h.models.will(callTools([toolCall('x')]), answer('B'), callTools([toolCall('y')]));
      const paused = await h.pause(flow);
      const next = await h.execute(flow, { ...resumeOf(paused), accumulatedOutputs: { a: 'mended' } });
      assert.deepEqual(next.body.accumulatedOutputs, { a: 'mended', b: 'B' });
    });
  });

  it('loop as often as the model asks, with one executionId and a growing conversation', async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
    const rounds = 4;
    // Some providers count their ids anew in each answer.
    for (let round = 0; round < rounds; round++) h.models.will(callTools([toolCall('call_0')]));
    h.models.will(answer('Enough'));
    let { body } = await h.execute(flow);
    for (let round = 1; round <= rounds; round++) {
      assert.equal(body.status, 'tool_calls_required');
      assert.equal(body.iterationsUsed, round);
      assert.equal(body.toolCallMessages.length, 2 * round);
      const before = body;
      ({ body } = await h.execute(flow, resumeOf(body)));
      assert.equal(body.executionId, before.executionId);
      assert.deepEqual(asked(round).messages, resumeOf(before).toolCallMessages);
    }
    assert.deepEqual([body.status, body.result], ['completed', 'Enough']);
    assert.equal((await h.charges(body.executionId)).length, rounds + 1);
  });

  it('pause in each of several blocks, counted for each', async () => {
    const flow = await h.weir.createFlow(h.tenant, [
      asking('one'),
      code('mid', 'return input + "!";'),
      asking('two'),
    ]);
    h.models.will(callTools([toolCall('a')]), callTools([toolCall('b')]), answer('first'));
    h.models.will(callTools([toolCall('c')]), answer('second'));
    let { body } = await h.execute(flow);
    ({ body } = await h.execute(flow, resumeOf(body)));
    assert.deepEqual([body.pausedAtStep, body.iterationsUsed], ['one', 2]);
    ({ body } = await h.execute(flow, resumeOf(body)));
    assert.deepEqual([body.pausedAtStep, body.iterationsUsed], ['two', 1]);
    assert.deepEqual(body.accumulatedOutputs, { one: 'first', mid: 'first!' });
    assert.equal(body.toolCallMessages.length, 2);
    ({ body } = await h.execute(flow, resumeOf(body)));
    assert.deepEqual([body.status, body.result], ['completed', 'second']);
    assert.equal((await h.charges(body.executionId)).length, 5);
  });

  it('keep parameters and overrides of the first call; a resume may send other overrides', async () => {
    const steps = [asking('ask'), llm('say', '{{parameters.tone}}', MODEL)];
    const flow = await h.weir.createFlow(h.tenant, steps);
    const block_overrides = { say: { prompt: 'First {{parameters.tone}}' } };
    for (const [sent, expected] of [
      [undefined, 'First dry'],
      [{ say: { prompt: 'Then {{parameters.tone}}' } }, 'Then dry'],
    ]) {
      h.models.calls.splice(0);
      h.models.will(callTools([toolCall('a')]), answer('ok'), answer('said'));
      const paused = await h.pause(flow, { block_overrides, parameters: { tone: 'dry' } });
      await h.execute(flow, { ...resumeOf(paused), block_overrides: sent });
      assert.equal(asked(2).messages[0].content, expected);
    }
  });

  it('keep the version while paused; the path of another version does not find the run', async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask'), code('end', 'return "v1 " + input;')]);
    h.models.will(callTools([toolCall('a')]), answer('ok'));
    const paused = await h.pause(flow);
    await h.publish(flow, [
      asking('ask'),
      code('mid', 'return input;'),
      code('end', 'return "v2 " + input;'),
    ]);
    const other = await h.execute(`${flow}/v2`, resumeOf(paused));
    assert.deepEqual([other.status, other.body.detail.code], [400, 'EXECUTION_ID_INVALID']);
    assert.equal((await h.execute(`${flow}/v9`, resumeOf(paused))).status, 404);
    const { body } = await h.execute(flow, resumeOf(paused));
    assert.deepEqual([body.status, body.result, body.blockCount], ['completed', 'v1 ok', 2]);
    assert.equal((await h.read(flow, paused.executionId)).body.version, 1);
  });

  it('find the run under the path of its own version', async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
    h.models.will(callTools([toolCall('a')]), answer('ok'));
    const paused = await h.pause(flow);
    await h.publish(flow, [passthrough('other')]);
    assert.equal((await h.execute(`${flow}/v1`, resumeOf(paused))).body.result, 'ok');
  });

  it('fail the run when a later block fails; it is then no longer paused', async () => {
    const flow = await h.weir.createFlow(h.tenant, [
      asking('ask'),
      code('bad', 'throw new Error("no luck");'),
    ]);
    h.models.will(callTools([toolCall('a')]), answer('ok'));
    const paused = await h.pause(flow);
    const { body } = await h.execute(flow, resumeOf(paused));
    assert.deepEqual([body.status, body.failureReason], ['failed', 'error']);
    assert.match(body.errorMessage, /no luck/);
    const again = await h.execute(flow, resumeOf(paused, [{ ...resultsOf(paused)[0], content: 'other' }]));
    assert.deepEqual([again.status, again.body.detail.code], [400, 'EXECUTION_ID_INVALID']);
  });

  it('hand large results and outputs through unchanged', async () => {
    const flow = await h.weir.createFlow(h.tenant, [
      code('big', 'return "x".repeat(50_000);'),
      asking('ask', 'x'),
    ]);
    const text = 'y'.repeat(50_000);
    h.models.will(callTools([toolCall('a')]), answer(text));
    const paused = await h.pause(flow);
    assert.equal(paused.accumulatedOutputs.big.length, 50_000);
    const content = `${randomUUID()}${'z'.repeat(100_000)}`;
    const { body } = await h.execute(flow, resumeOf(paused, [{ role: 'tool', tool_call_id: 'a', content }]));
    assert.equal(body.result, text);
    assert.equal(asked(1).messages[2].content, content);
    assert.equal((await h.read(flow, paused.executionId)).body.result, text);
  });
});
