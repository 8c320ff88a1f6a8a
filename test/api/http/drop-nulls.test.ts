import assert from 'node:assert/strict';
import { z } from 'zod';
import { dropNulls } from '../../../api/http/zod-input.ts';

describe('null for an optional field', () => {
  const inner = z.strictObject({ a: z.string().optional(), b: z.string() });
  const schema = z.strictObject({
    optional: z.string().optional(),
    defaulted: z.int().default(3),
    required: z.string(),
    nullish: z.string().nullish(),
    free: z.unknown().optional(),
    object: inner.optional(),
    list: z.array(inner).optional(),
    record: z.record(z.string(), inner).optional(),
    union: z.union([z.enum(['x']), inner]).optional(),
  });
  const dropped = (json: object) => {
    dropNulls(schema, json);
    return json;
  };

  it('is the same as leaving it out', () => {
    assert.deepEqual(dropped({ optional: null, defaulted: null, object: null, list: null }), {});
  });

  it('is that in objects inside lists, records and unions too', () => {
    const given = { a: null, b: 'x' };
    for (const [field, wrap] of [
      ['object', (value: object) => value],
      ['list', (value: object) => [value]],
      ['record', (value: object) => ({ key: value })],
      ['union', (value: object) => value],
    ] as const)
      assert.deepEqual(dropped({ [field]: wrap({ ...given }) }), { [field]: wrap({ b: 'x' }) });
  });

  it('is asked of the schema once, however many there are', () => {
    let asked = 0;
    const field = z.custom<string>((value) => {
      asked += 1;
      return value !== null;
    });
    const items = Array.from({ length: 1_000 }, () => ({ a: null }));
    dropNulls(z.array(z.strictObject({ a: field.optional() })), items);
    assert.deepEqual([items.filter((item) => 'a' in item).length, asked], [0, 1]);
  });

  it('stays where null means something, is free JSON, or the field is required or unknown', () => {
    const json = { nullish: null, free: { x: null }, required: null, unknown: null, object: { b: null } };
    assert.deepEqual(dropped(structuredClone(json)), json);
  });
});
