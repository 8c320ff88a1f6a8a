import assert from 'node:assert/strict';
import type { Json } from '../../flow/definition.ts';
import {
  COMPOSITION_MAX_CHARS,
  compact,
  INLINE_MAX_CHARS,
  resolveValue,
  toLeaf,
  type Value,
} from '../../flow/value.ts';

describe('Value', () => {
  it('carries a value up to the inline limit, and only its reference past it', () => {
    const atLimit = 'x'.repeat(INLINE_MAX_CHARS - 2);
    assert.deepEqual(toLeaf('a', atLimit), { ref: 'a', json: atLimit });
    assert.deepEqual(toLeaf('a', `${atLimit}x`), { ref: 'a' });
  });

  it('drops inline copies from a composition that has grown long, and resolves to the same JSON', async () => {
    const outputs = Array.from({ length: 500 }, (_, index): Json => ({ index, text: 'y'.repeat(500) }));
    const long: Value = {
      branches: { all: { items: outputs.map((json, index) => toLeaf(`s#${index}`, json)) } },
    };
    const small = compact(long);
    assert(JSON.stringify(long).length > COMPOSITION_MAX_CHARS);
    assert(JSON.stringify(small).length < COMPOSITION_MAX_CHARS);
    const load = async (ref: string) => outputs[Number(ref.split('#')[1])] as Json;
    assert.deepEqual(await resolveValue(small, load), { all: outputs });
  });

  it('keeps a branch named __proto__ a branch', async () => {
    const value: Value = { branches: Object.fromEntries([['__proto__', { ref: 'a', json: 1 }]]) };
    const json = (await resolveValue(value, async () => null)) as object;
    assert.deepEqual(Object.entries(json), [['__proto__', 1]]);
  });
});
