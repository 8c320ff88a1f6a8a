import assert from 'node:assert/strict';
import type { Json } from '../../flow/definition.ts';
import {
  COMPOSITION_MAX_CHARS,
  compact,
  INLINE_MAX_BYTES,
  type Load,
  resolveText,
  resolveValue,
  sizeOf,
  toLeaf,
  type Value,
} from '../../flow/value.ts';

const leaf = (ref: string, json: Json) => toLeaf(ref, json, Buffer.byteLength(JSON.stringify(json)));

describe('Value', () => {
  it('carries a value up to the inline limit, and only its reference past it', () => {
    const atLimit = 'x'.repeat(INLINE_MAX_BYTES - 2);
    const bytes = INLINE_MAX_BYTES;
    assert.deepEqual(toLeaf('a', atLimit, bytes), { ref: 'a', json: atLimit, bytes });
    assert.deepEqual(toLeaf('a', `${atLimit}x`, bytes + 1), { ref: 'a', bytes: bytes + 1 });
    assert.deepEqual(toLeaf('a', [1, 1], 5, 36), { ref: 'a', json: [1, 1], bytes: 36, exactBytes: 5 });
    assert.deepEqual(toLeaf('a', null, bytes + 1, 9_000), { ref: 'a', bytes: 9_000, exactBytes: bytes + 1 });
  });

  it('drops inline copies from a composition that has grown long, and resolves to the same JSON', async () => {
    const outputs = Array.from({ length: 500 }, (_, index): Json => ({ index, text: 'y'.repeat(500) }));
    const long: Value = {
      branches: { all: { items: outputs.map((json, index) => leaf(`s#${index}`, json)) } },
    };
    const small = compact(long);
    assert(JSON.stringify(long).length > COMPOSITION_MAX_CHARS);
    assert(JSON.stringify(small).length < COMPOSITION_MAX_CHARS);
    let loads = 0;
    const load: Load = async (refs) => {
      loads += 1;
      return new Map(refs.map((ref) => [ref, { json: outputs[Number(ref.split('#')[1])] as Json }]));
    };
    assert.deepEqual(await resolveValue(small, load), { all: outputs });
    assert.equal(loads, 1);
    assert.equal(sizeOf(small), JSON.stringify({ all: outputs }).length);
  });

  it('keeps a branch named __proto__ a branch', async () => {
    const value: Value = { branches: Object.fromEntries([['__proto__', { ref: 'a', json: 1 }]]) };
    const json = (await resolveValue(value, async () => new Map())) as object;
    assert.deepEqual(Object.entries(json), [['__proto__', 1]]);
  });

  for (const [name, value] of Object.entries<Value>({
    'a stored output': { ref: 'rows' },
    'an inline copy': { ref: 'x', json: { a: 'b' } },
    'an item of an item of an output': { ref: 'rows', at: [1, 0] },
    'the outputs of a loop': { items: [{ ref: 'rows' }, { ref: 'rows', at: [0] }, { ref: 'x', json: null }] },
    'the outputs of a parallel step': { branches: { 'a "b"': { items: [] }, 1: { ref: 'rows' } } },
  }))
    it(`resolves to the same JSON as text: ${name}`, async () => {
      const rows = [['"\n'], [{ a: 1 }]];
      const load: Load = async () => new Map([['rows', { json: rows }]]);
      const text = await resolveText(value, async () => new Map([['rows', { text: JSON.stringify(rows) }]]));
      assert.deepEqual(JSON.parse(text), await resolveValue(value, load));
    });
});
