import assert from 'node:assert/strict';
import type { JsonSchema } from '../../../flow/definition.ts';
import { findIdleSchemas, findWrappedSchema } from '../../../platform/json-schema/find-idle-schemas.ts';

describe('findIdleSchemas', () => {
  const cases: [rule: string, schema: JsonSchema, pointers: string[]][] = [
    ['finds a schema without a keyword', { stars: 'integer', why: 'string' }, ['']],
    [
      'finds those inside others',
      { properties: { a: { typ: 'string' }, b: { type: 'string' } }, items: { kind: 1 } },
      ['/properties/a', '/items'],
    ],
    ['finds one of a list', { anyOf: [{ type: 'null' }, { a: 1 }] }, ['/anyOf/1']],
    ['ignores what accepts everything on purpose', { properties: { a: {}, b: true }, items: {} }, []],
    ['ignores a schema with a description alone', { description: 'Anything.' }, []],
    ['ignores values', { const: { a: 1 }, default: { b: 1 }, enum: [{ c: 1 }], examples: [{ d: 1 }] }, []],
    [
      'ignores names of properties and definitions',
      { properties: { a: { $ref: '#/$defs/b' } }, $defs: { b: true } },
      [],
    ],
    ['ignores unknown keywords beside known ones', { type: 'object', strict: true }, []],
    ['finds nothing in true', true, []],
  ];
  for (const [rule, schema, pointers] of cases)
    it(rule, () =>
      assert.deepEqual(
        findIdleSchemas(schema).map(({ pointer }) => pointer),
        pointers,
      ),
    );
});

describe('findWrappedSchema', () => {
  const inner = { type: 'object' };
  const cases: [rule: string, schema: JsonSchema, pointer: string | undefined][] = [
    [
      'finds the schema of response_format',
      { json_schema: { name: 'a', schema: inner } },
      '/json_schema/schema',
    ],
    ['finds the schema of text.format', { format: { type: 'json_schema', schema: inner } }, '/format/schema'],
    ['finds the parameters of a tool', { name: 'a', description: 'b', parameters: inner }, '/parameters'],
    ['finds the input of a tool of Anthropic', { name: 'a', input_schema: inner }, '/input_schema'],
    ['finds no wrapper where a keyword checks something', { type: 'object', schema: inner }, undefined],
    ['finds no wrapper without a schema inside', { name: 'a', strict: true }, undefined],
    [
      'finds no wrapper in a schema with a property of that name',
      { properties: { schema: inner } },
      undefined,
    ],
  ];
  for (const [rule, schema, pointer] of cases)
    it(rule, () => assert.equal(findWrappedSchema(schema), pointer));
});
