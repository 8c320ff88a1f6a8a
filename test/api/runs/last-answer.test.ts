import assert from 'node:assert/strict';
import type { Block } from '../../../flow/definition.ts';
import { llm } from '../../blocks.ts';
import { answer, type Behaviour, callTools, respond } from '../../fakes/model-server.ts';
import { MODEL, useCredits } from './credits-harness.ts';

const USAGE = {
  promptTokens: 10,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 5,
  reasoningTokens: 0,
};

describe('the last answer of a model', () => {
  const harness = useCredits();

  /** Runs a block, and returns the block in the trace. */
  async function trace(answers: Behaviour[], block: Partial<Block> = {}, more: object = {}) {
    const { weir, models } = harness;
    await harness.pay(10_000);
    const { key } = harness.tenant;
    const flow = await weir.createFlow(harness.tenant, [llm('ask', 'x', MODEL, block)]);
    models.will(...answers);
    const run = await weir.call('POST', `${flow}/execute`, { key, body: { message: 'm', ...more } });
    return (await weir.call('GET', `${flow}/jobs/${run.body.executionId}/blocks/ask`, { key })).body;
  }

  it('that was cut off is in the trace of the block', async () => {
    const { code, lastAnswer } = await trace([answer('Once upon', { finish_reason: 'length' })]);
    assert.equal(code, 'MODEL_OUTPUT_INCOMPLETE');
    const described = {
      text: 'Once upon',
      isCut: false,
      finishReason: 'length',
      usage: USAGE,
      repairRequest: null,
    };
    assert.deepEqual(lastAnswer, described);
  });

  it('that matches no schema is in the trace with the request to repair it', async () => {
    const { code, lastAnswer } = await trace([answer('first'), answer('second')], {
      outputSchema: { type: 'object' },
    });
    assert.equal(code, 'MODEL_OUTPUT_INVALID');
    const { repairRequest, ...described } = lastAnswer;
    assert.deepEqual(described, { text: 'second', isCut: false, finishReason: 'stop', usage: USAGE });
    const sent = harness.models.calls[1]?.body.messages as { content: string }[];
    assert.equal(repairRequest, sent.at(-1)?.content);
  });

  it('whose repair is refused is in the trace with the request for the repair', async () => {
    const refused = respond(400, { error: { message: 'no' } });
    const { lastAnswer } = await trace([answer('first'), refused], { outputSchema: { type: 'object' } });
    assert.deepEqual([lastAnswer.text, lastAnswer.finishReason], ['first', 'stop']);
    assert.match(lastAnswer.repairRequest, /does not match the JSON Schema/);
  });

  it('that calls a tool which it was not offered again and again is in the trace as JSON', async () => {
    const calls = [{ id: 'c', type: 'function', function: { name: 'drop', arguments: '{}' } }];
    const tools = [{ type: 'function', function: { name: 'find' } }];
    const { code, lastAnswer } = await trace(
      Array(5).fill(callTools(calls)),
      { processor_config: { tools_enabled: true } },
      { tools },
    );
    assert.equal(code, 'MODEL_OUTPUT_INVALID');
    assert.deepEqual(JSON.parse(lastAnswer.text).tool_calls, calls);
    assert.equal(lastAnswer.finishReason, 'tool_calls');
    assert.match(lastAnswer.repairRequest, /There is no tool "drop"/);
  });

  it('that is no chat completion is in the trace as JSON', async () => {
    const { lastAnswer } = await trace([respond(200, { choices: [{}], usage: { prompt_tokens: 10 } })]);
    assert.deepEqual(JSON.parse(lastAnswer.text).choices, [{}]);
  });

  for (const length of [20_000, 2_000_000])
    it(`of ${length} characters is cut to 16,384`, async () => {
      const { lastAnswer } = await trace([answer('x'.repeat(length), { finish_reason: 'length' })]);
      assert.deepEqual([lastAnswer.text.length, lastAnswer.isCut], [16_384, true]);
    });

  it('is not kept besides the output of a block that completed', async () => {
    const { status, lastAnswer } = await trace([answer('done')]);
    assert.deepEqual([status, lastAnswer], ['completed', undefined]);
  });
});
