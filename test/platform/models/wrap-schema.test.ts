import assert from 'node:assert/strict';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, JsonSchema } from '../../../flow/definition.ts';
import { wrapSchema } from '../../../platform/models/wrap-schema.ts';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';

/** Whether a schema takes a value. */
function takes(schema: JsonSchema, value: Json): boolean {
  const options = { strict: false };
  const { $schema } = schema as { $schema?: string };
  const ajv = $schema === DRAFT_07 ? new Ajv(options) : new Ajv2020(options);
  return ajv.validate(schema, value) as boolean;
}

describe('wrapSchema', () => {
  const tree = { type: 'array', items: { $ref: '#' } };
  const cases: [string, JsonSchema, Json[]][] = [
    ['a list', { type: 'array', items: { type: 'string' } }, [['a'], [1], [], 'a', { value: ['a'] }]],
    ['several types', { type: ['integer', 'null'] }, [1, null, 1.5, 'a', {}]],
    ['a choice', { anyOf: [{ type: 'object', required: ['a'] }, { const: 1 }] }, [{ a: 1 }, 1, {}, 2]],
    ['no keyword', {}, [1, null, {}, { value: 1 }]],
    ['definitions', { $ref: '#/$defs/a', $defs: { a: { enum: [1] }, value: { $ref: '#/$defs/a' } } }, [1, 2]],
    [
      'definitions of draft-07',
      { $schema: DRAFT_07, $ref: '#/definitions/a', definitions: { a: { type: 'string' } } },
      ['a', 1],
    ],
    ['a reference to the root', tree, [[], [[], [[]]], [1], [{ value: [] }]]],
    [
      'a reference to the root of draft-07',
      { ...tree, $schema: DRAFT_07 },
      [[], [[], [[]]], [1], [{ value: [] }]],
    ],
    [
      'a reference to the root from a definition with the name of the wrapper’s own',
      {
        type: 'array',
        items: { $ref: '#/$defs/value' },
        $defs: { value: { anyOf: [{ $ref: '#' }, { const: 1 }] } },
      },
      [[1], [[1], 1], [2], 1],
    ],
    [
      'a reference into the root',
      { type: 'array', prefixItems: [{ type: 'string' }, { $ref: '#/prefixItems/0' }], items: false },
      [
        ['a', 'b'],
        ['a', 1],
        ['a', 'b', 'c'],
      ],
    ],
    [
      'properties and values that look like keywords',
      {
        anyOf: [
          { type: 'object', properties: { $ref: { const: 1 }, $defs: { const: 2 }, $id: { const: 3 } } },
          { const: { $ref: '#' } },
        ],
        not: { const: {} },
      },
      [{ $ref: 1 }, { $ref: 2 }, { $defs: 2, $id: 3 }, { $ref: '#' }, { $ref: '#/$defs/value' }, {}],
    ],
    ['the name of the whole schema', { $id: 'https://example.com/a', ...tree }, [[[]], [1]]],
  ];
  for (const [name, schema, values] of cases)
    it(`asks for an object with exactly the values that the schema takes: ${name}`, () => {
      const wrapped = wrapSchema(schema) as { [keyword: string]: Json };
      assert.equal(wrapped?.type, 'object');
      const verdicts = values.map((value) => takes(schema, value));
      assert.deepEqual(new Set(verdicts).size, name === 'no keyword' ? 1 : 2);
      assert.deepEqual(
        values.map((value) => takes(wrapped, { value })),
        verdicts,
      );
      assert.ok(!takes(wrapped, values[0] as Json) || name === 'no keyword');
      const others: Json[] = [{}, { value: values[0] as Json, more: 1 }];
      for (const other of others) assert.ok(!takes(wrapped, other));
    });

  it('keeps $schema and definitions at the root, where providers look for them', () => {
    const $defs = { a: { type: 'string' } };
    const schema = { $schema: DRAFT_07, type: 'array', items: { $ref: '#/$defs/a' }, $defs };
    assert.deepEqual(wrapSchema(schema), {
      $schema: DRAFT_07,
      type: 'object',
      properties: { value: { type: 'array', items: { $ref: '#/$defs/a' } } },
      required: ['value'],
      additionalProperties: false,
      $defs,
    });
  });

  const unmoved: [string, JsonSchema][] = [
    ['true', true],
    ['a schema with a name inside', { anyOf: [{ $id: 'a', type: 'array', items: { $ref: '#' } }] }],
    ['a name of draft-07', { $schema: DRAFT_07, $id: '#a', type: 'array', items: { $ref: '#a' } }],
    ['an anchor', { $anchor: 'a', type: 'array', items: { $ref: '#a' } }],
    ['a dynamic reference', { $dynamicAnchor: 'a', type: 'array', items: { $dynamicRef: '#a' } }],
    [
      'a reference into a value',
      { type: 'array', items: { $ref: '#/default/a' }, default: { a: { type: 'null' } } },
    ],
    ['an encoded reference', { $ref: '#/%24defs/a', $defs: { a: { type: 'null' } } }],
  ];
  for (const [name, schema] of unmoved)
    it(`leaves alone what could change its meaning: ${name}`, () => {
      assert.equal(wrapSchema(schema), undefined);
    });

  it('does not change the schema it is given', () => {
    const schema = { ...tree, $id: 'a', $defs: { value: { $ref: '#' } } };
    const before = structuredClone(schema);
    wrapSchema(schema);
    assert.deepEqual(schema, before);
  });
});
