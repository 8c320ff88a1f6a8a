import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '../../../flow/errors.ts';
import shipped from '../../../platform/models/models.json' with { type: 'json' };
import { createRegistry } from '../../../platform/models/registry.ts';

describe('createRegistry', () => {
  const registry = createRegistry();

  for (const model of Object.keys(shipped)) {
    it(`knows ${model}`, () => assert.ok(registry.capabilities(model).context_tokens > 0));
  }

  it("takes what an entry leaves out from the provider's * entry", () => {
    const { image_mime_types, json_schema, context_tokens } =
      registry.capabilities('anthropic/claude-opus-4-8');
    assert.deepEqual(image_mime_types, shipped['anthropic/*'].image_mime_types);
    assert.deepEqual({ json_schema, context_tokens }, { json_schema: false, context_tokens: 1_000_000 });
  });

  it("stands the provider's * entry in for a model that is not listed", () => {
    assert.deepEqual(registry.capabilities('ollama/llama3.2:3b'), shipped['ollama/*']);
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
        assert.equal(registry.costMicrocredits(model, { promptTokens, completionTokens }), expected);
      });
    }
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
      assert.equal(overlaid.costMicrocredits('openai/gpt-5', { promptTokens: 3, completionTokens: 0 }), 1);
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
