// Cached input, cache writes and reasoning, from the answer of a model to the receipt and the trace.
import assert from 'node:assert/strict';
import { llm } from '../../blocks.ts';
import { answer, respond } from '../../fakes/model-server.ts';
import { credits, MODEL, useCredits } from './credits-harness.ts';

const REPORTED = {
  prompt_tokens: 10_000,
  prompt_tokens_details: { cached_tokens: 9_000, cache_write_tokens: 500, cache_write_1h_tokens: 100 },
  completion_tokens: 60,
  completion_tokens_details: { reasoning_tokens: 40 },
};
const TOKENS = {
  promptTokens: 10_000,
  cachedTokens: 9_000,
  cacheWriteTokens: 600,
  completionTokens: 60,
  reasoningTokens: 40,
};
/** At the prices of demo models: 1, 0.1, 1.25, 2 and 2 USD per million tokens. */
const COST = credits(400 * 100 + 9_000 * 10 + 500 * 125 + 100 * 200 + 60 * 200);

describe('the kinds of tokens of an answer', () => {
  const harness = useCredits();

  it('are in the receipt and the trace, each charged at its own price', async () => {
    await harness.pay(10_000);
    harness.models.will(answer('done', { usage: REPORTED }));
    const { weir, tenant } = harness;
    const flow = await weir.createFlow(tenant, [llm('ask', 'x', MODEL)]);
    const { key } = tenant;
    const run = await weir.call('POST', `${flow}/execute`, { key, body: { message: 'm' } });
    assert.equal(run.body.cost, COST);
    const traced = await weir.call('GET', `${flow}/jobs/${run.body.executionId}/blocks/ask`, { key });
    for (const { usage } of [run.body.blocks[0], traced.body]) {
      const { ms: _, ...used } = usage;
      assert.deepEqual(used, { ...TOKENS, cost: COST });
    }
  });

  it('are estimates, and called so, where the provider reports none', async () => {
    await harness.pay(10_000);
    const message = { role: 'assistant', content: 'A whole sentence that somebody wrote.' };
    harness.models.will(respond(200, { choices: [{ index: 0, message, finish_reason: 'stop' }] }));
    const { status, cost, blocks } = await harness.execute([llm('ask', 'x', MODEL)]);
    const { usage } = blocks[0];
    assert.deepEqual([status, usage.estimated], ['completed', true]);
    assert.ok(usage.completionTokens > 5 && usage.completionTokens < 60, String(usage.completionTokens));
    assert.equal(cost, credits(usage.promptTokens * 100 + usage.completionTokens * 200));
  });

  it('come with a note of a model that is in no list, with its price', async () => {
    await harness.pay(10_000);
    harness.models.will(answer('done'), answer('done'));
    const unlisted = 'demo/of-tomorrow';
    const { weir, tenant } = harness;
    const { key } = tenant;
    const flow = await weir.createFlow(tenant, [llm('a', 'x', unlisted), llm('b', 'x', unlisted)]);
    const run = await weir.call('POST', `${flow}/execute`, { key, body: { message: 'm' } });
    const traced = await weir.call('GET', `${flow}/jobs/${run.body.executionId}/blocks`, { key });
    assert.deepEqual(traced.body.notes, run.body.notes);
    assert.deepEqual(run.body.notes, [
      'demo/of-tomorrow is in no list of models. Its calls with a key of the service are charged like demo/*, 100 credits for a million tokens of input and 200 of output.',
    ]);
    harness.models.will(answer('done'));
    assert.equal((await harness.execute([llm('a', 'x', MODEL)])).notes, undefined);
  });
});
