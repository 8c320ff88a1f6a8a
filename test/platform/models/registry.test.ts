import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '../../../flow/errors.ts';
import shipped from '../../../platform/models/models.json' with { type: 'json' };
import { createRegistry } from '../../../platform/models/registry.ts';
import { NO_TOKENS, type TokenUsage } from '../../../platform/models/token-usage.ts';

describe('createRegistry', () => {
  const registry = createRegistry();

  for (const model of Object.keys(shipped).filter((name) => name !== '$comment')) {
    it(`knows ${model}`, () => assert.ok(registry.capabilities(model).context_tokens > 0));
  }

  it("takes what an entry leaves out from the provider's * entry", () => {
    const { image_mime_types, json_schema, context_tokens } =
      registry.capabilities('anthropic/claude-opus-4-8');
    assert.deepEqual(image_mime_types, shipped['anthropic/*'].image_mime_types);
    assert.deepEqual({ json_schema, context_tokens }, { json_schema: true, context_tokens: 1_000_000 });
  });

  it("stands the provider's * entry in for a model that is not listed", () => {
    assert.deepEqual(registry.capabilities('ollama/llama3.2:3b'), shipped['ollama/*']);
  });

  for (const [version, model] of [
    ['openai/gpt-5-mini-2025-08-07', 'openai/gpt-5-mini'],
    ['anthropic/claude-sonnet-4-5-20250929', 'anthropic/claude-sonnet-4-5'],
  ] as const)
    it(`takes ${version} for ${model}`, () => {
      assert.deepEqual(registry.capabilities(version), registry.capabilities(model));
      assert.ok(registry.lists(version));
    });

  it('takes a version with an entry of its own for itself, and one of an unlisted model for unlisted', () => {
    assert.equal(registry.capabilities('openai/gpt-4o-2024-05-13').price.input, 5);
    assert.equal(registry.capabilities('openai/gpt-4o-2024-08-06').price.input, 2.5);
    assert.equal(registry.lists('openai/gpt-of-tomorrow-2030-01-31'), false);
  });

  for (const model of ['acme/one', 'gpt-5', '', '__proto__/x']) {
    it(`answers MODEL_NOT_CONFIGURED for ${JSON.stringify(model)}`, () => {
      assert.throws(
        () => registry.capabilities(model),
        (error) => error instanceof ServiceError && error.code === 'MODEL_NOT_CONFIGURED',
      );
    });
  }

  describe('costMicrocredits', () => {
    const costs: [string, number, number, number][] = [
      // 1 USD = 100 credits = 1e8 microcredits
      ['openai/gpt-5-mini', 1_000_000, 0, 25_000_000],
      ['openai/gpt-5-mini', 0, 1_000_000, 200_000_000],
      ['openai/gpt-4o-mini', 1, 1, 75],
      ['openai/gpt-4.1-nano', 3, 7, 310],
      ['ollama/any', 1_000, 1_000, 0],
    ];
    for (const [model, promptTokens, completionTokens, expected] of costs) {
      it(`is ${expected} for ${promptTokens} and ${completionTokens} tokens of ${model}`, () => {
        const usage = { ...NO_TOKENS, promptTokens, completionTokens };
        assert.equal(registry.costMicrocredits(model, usage), expected);
      });
    }

    it('has prices of cached input, cache writes and long contexts in the shipped list', () => {
      const usage = { ...NO_TOKENS, promptTokens: 10_000, cachedTokens: 9_000, completionTokens: 100 };
      assert.equal(registry.costMicrocredits('openai/gpt-5-mini', usage), 67_500);
      const written = { ...NO_TOKENS, promptTokens: 1_000, cacheWriteTokens: 1_000 };
      assert.equal(registry.costMicrocredits('anthropic/claude-sonnet-4-5', written), 375_000);
      const hour = { ...NO_TOKENS, promptTokens: 1_000, cacheWriteHourTokens: 1_000 };
      assert.equal(registry.costMicrocredits('anthropic/claude-sonnet-4-5', hour), 600_000);
      const long = (promptTokens: number) =>
        registry.costMicrocredits('google/gemini-2.5-pro', { ...NO_TOKENS, promptTokens });
      assert.deepEqual([long(200_000), long(400_000)], [200_000 * 125, 400_000 * 250]);
    });

    /** At 1 USD per million tokens, a token costs 100 microcredits. */
    const price = { input: 10, cached_input: 1, cache_write: 12, cache_write_1h: 20, output: 50 };
    function costOf(entry: object, usage: Partial<TokenUsage>): number {
      const content = { 'demo/priced': { price, ...entry } };
      const priced = createRegistry({ fetched: { name: 'test', content } });
      return priced.costMicrocredits('demo/priced', { ...NO_TOKENS, ...usage }) / 100;
    }
    const input = { promptTokens: 10, cachedTokens: 3, cacheWriteTokens: 2, cacheWriteHourTokens: 1 };

    it('takes cached input, cache writes and other input each at its own price', () => {
      assert.equal(costOf({}, { ...input, completionTokens: 5 }), 4 * 10 + 3 * 1 + 2 * 12 + 1 * 20 + 5 * 50);
    });

    it('takes the price of input where those of caching are left out', () => {
      assert.equal(costOf({ price: { input: 10, output: 50 } }, input), 100);
      assert.equal(costOf({ price: { input: 10, cache_write: 12, output: 50 } }, input), 7 * 10 + 3 * 12);
    });

    it('counts reasoning once, as output', () => {
      assert.equal(costOf({}, { completionTokens: 5, reasoningTokens: 4 }), 250);
    });

    it('depends on the length of the input', () => {
      const long_context = [
        { above_tokens: 200, input: 30, output: 90 },
        { above_tokens: 100, input: 20, output: 60 },
      ];
      const cost = (promptTokens: number) =>
        costOf({ price: { ...price, long_context } }, { promptTokens, cachedTokens: 1, completionTokens: 1 });
      assert.deepEqual([100, 101, 200, 201].map(cost), [
        99 * 10 + 1 + 50,
        100 * 20 + 2 + 60,
        199 * 20 + 2 + 60,
        200 * 30 + 3 + 90,
      ]);
    });

    it('has caching rise with the input of a long context, unless its own prices say otherwise', () => {
      const usage = { promptTokens: 200, cachedTokens: 30, cacheWriteTokens: 20, cacheWriteHourTokens: 10 };
      const cost = (own: object) =>
        costOf(
          { price: { ...price, long_context: [{ above_tokens: 100, input: 20, output: 60, ...own }] } },
          usage,
        );
      assert.equal(cost({}), 140 * 20 + 30 * 2 + 20 * 24 + 10 * 40);
      assert.equal(cost({ cached_input: 5, cache_write: 30 }), 140 * 20 + 30 * 5 + 20 * 30 + 10 * 40);
    });

    it('has a price for each image', () => {
      assert.equal(costOf({ price: { ...price, image: 0.001 } }, { promptTokens: 1, images: 2 }), 10 + 2_000);
    });

    it('has a factor for the service tier of the answer', () => {
      const tiers = { batch: 0.5, priority: 1.7 };
      const cost = (tier: string) => costOf({ tiers }, { promptTokens: 10, tier });
      assert.deepEqual(['batch', 'priority', 'default', 'constructor'].map(cost), [50, 170, 100, 100]);
    });

    it('is the reported one where the list says so', () => {
      const usage = { promptTokens: 10, reportedUsd: 0.000012 };
      assert.deepEqual([costOf({ reported_cost: true }, usage), costOf({}, usage)], [12, 100]);
      assert.equal(costOf({ reported_cost: true }, { promptTokens: 10 }), 100);
    });
  });

  describe("the operator's file", () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-models-'));
    const file = join(folder, 'models.json');
    after(() => rmSync(folder, { recursive: true }));
    function withFile(content: unknown) {
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
      return createRegistry({ file });
    }

    it('wins over the shipped list, field by field', () => {
      const price = { input: 0.0001, output: 0 };
      const overlaid = withFile({ 'openai/gpt-5': { price }, 'demo/*': { tools: false } });
      assert.deepEqual(overlaid.capabilities('openai/gpt-5'), {
        ...registry.capabilities('openai/gpt-5'),
        price,
      });
      assert.equal(overlaid.capabilities('demo/chat').tools, false);
      assert.equal(overlaid.capabilities('openai/gpt-5-mini').price.input, 0.25);
      // 3 tokens at 0.01 microcredits each
      assert.equal(overlaid.costMicrocredits('openai/gpt-5', { ...NO_TOKENS, promptTokens: 3 }), 1);
    });

    it('may say in $comment where it comes from', () => {
      const content = { $comment: { date: '2026-11-05', sources: [] }, 'demo/chat': { tools: false } };
      assert.equal(withFile(content).capabilities('demo/chat').tools, false);
    });

    const wrong: [string, unknown, RegExp][] = [
      ['not JSON', '{', /models\.json can't be read/],
      ['a field it does not know', { 'openai/gpt-5': { cost: 1 } }, /cost/],
      ['a negative price', { 'openai/gpt-5': { price: { input: -1, output: 1 } } }, /price\.input/],
      ['a model without provider', { 'gpt-5': { tools: true } }, /must read provider\/model.*gpt-5/s],
      ['a new provider without *', { 'acme/one': { tools: true } }, /"acme\/one".*"acme\/\*".*json_schema/s],
    ];
    for (const [name, content, message] of wrong) {
      it(`is refused with ${name}`, () => {
        assert.throws(() => withFile(content), message);
        assert.throws(() => withFile(content), new RegExp(file));
      });
    }

    it('is refused when it is missing', () => {
      assert.throws(() => createRegistry({ file: join(folder, 'none.json') }), /none\.json can't be read/);
    });
  });
});
