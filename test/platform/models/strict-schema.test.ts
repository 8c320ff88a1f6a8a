import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, JsonSchema } from '../../../flow/definition.ts';
import { toStrictSchema } from '../../../platform/models/strict-schema.ts';

type Keywords = { [keyword: string]: Json };

const TEXT = { type: 'string' };
const PERSON = objectOf({ url: TEXT });
const ref = { $ref: '#/$defs/P' };

/** A closed object whose properties are all required. */
function objectOf(properties: Keywords): Keywords {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** An object with the property `a`, and definitions. */
function withA(a: Json, $defs?: Keywords): Keywords {
  return { ...objectOf({ a }), ...($defs && { $defs }) };
}

function takes(schema: JsonSchema, value: Json): boolean {
  return new Ajv2020({ strict: false, validateFormats: false }).validate(schema, value) as boolean;
}

describe('toStrictSchema', () => {
  const kept: [name: string, schema: JsonSchema][] = [
    [
      'titles and descriptions',
      { ...objectOf({ a: { ...TEXT, title: 'A', description: 'An a.' } }), title: 'T' },
    ],
    [
      'bounds of numbers and lists',
      withA({ type: 'array', items: { type: 'integer', minimum: 1 }, maxItems: 3 }),
    ],
    ['patterns and known formats', withA({ ...TEXT, pattern: '^a', format: 'date-time' })],
    ['types with null', withA({ type: ['string', 'null'] })],
    ['choices', withA({ anyOf: [objectOf({ b: TEXT }), { type: 'null' }] })],
    ['a recursive reference to the root', withA({ anyOf: [{ $ref: '#' }, { type: 'null' }] })],
    ['a recursive definition', withA(ref, { P: objectOf({ next: { anyOf: [ref, { type: 'null' }] } }) })],
    ['an object without properties', withA(objectOf({}))],
  ];
  for (const [name, schema] of kept)
    it(`keeps ${name}`, () => assert.deepEqual(toStrictSchema(schema), schema));

  const rewritten: [rule: string, schema: JsonSchema, strict: JsonSchema, values: Json[]][] = [
    [
      'a reference with a description stands alone in an anyOf',
      withA({ ...ref, description: 'The main one', title: 'A', default: null }, { P: PERSON }),
      withA({ title: 'A', description: 'The main one', anyOf: [ref] }, { P: PERSON }),
      [{ a: { url: 'u' } }, { a: {} }],
    ],
    [
      'an allOf of one, as Pydantic 1 writes, becomes its part',
      {
        ...objectOf({ a: { title: 'A', allOf: [{ $ref: '#/definitions/P' }] } }),
        definitions: { P: PERSON },
      },
      withA({ title: 'A', anyOf: [ref] }, { P: PERSON }),
      [{ a: { url: 'u' } }, { a: {} }],
    ],
    [
      'a reference with the type of its target loses the type',
      withA({ ...ref, type: 'object' }, { P: PERSON }),
      withA(ref, { P: PERSON }),
      [{ a: { url: 'u' } }, { a: 1 }],
    ],
    [
      'a reference into the schema leads to a definition',
      objectOf({ a: PERSON, b: { $ref: '#/properties/a' } }),
      { ...objectOf({ a: PERSON, b: { $ref: '#/$defs/a' } }), $defs: { a: PERSON } },
      [
        { a: { url: 'u' }, b: { url: 'u' } },
        { a: { url: 'u' }, b: {} },
      ],
    ],
    [
      'names of definitions have no other characters than letters, digits, _ and -',
      withA({ $ref: '#/$defs/A%20b~1c' }, { 'A b/c': PERSON }),
      withA({ $ref: '#/$defs/A_b_1c' }, { A_b_1c: PERSON }),
      [{ a: { url: 'u' } }, { a: 1 }],
    ],
    [
      'definitions that nothing refers to are dropped',
      withA(TEXT, { P: { type: 'object', patternProperties: { a: TEXT } } }),
      withA(TEXT),
      [{ a: 'a' }, { a: 1 }],
    ],
    [
      'notes and keywords that check nothing are dropped',
      {
        ...withA({
          ...TEXT,
          default: 'a',
          examples: ['a'],
          format: 'postcode',
          'x-order': 1,
          minLength: 0,
          minimum: 1,
        }),
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: 'https://example.com/a',
        $comment: 'c',
        readOnly: true,
      },
      withA(TEXT),
      [{ a: 'a' }, { a: 1 }],
    ],
    [
      'a constant gets its type',
      withA({ const: 'a' }),
      withA({ type: 'string', const: 'a' }),
      [{ a: 'a' }, { a: 'b' }],
    ],
    [
      'an enum gets its types',
      withA({ enum: ['a', 1, 2, null] }),
      withA({ type: ['string', 'integer', 'null'], enum: ['a', 1, 2, null] }),
      [{ a: null }, { a: 2 }, { a: 3 }],
    ],
    [
      'values that the type excludes are no longer in the enum',
      withA({ ...TEXT, enum: ['a', null] }),
      withA({ ...TEXT, enum: ['a'] }),
      [{ a: 'a' }, { a: null }],
    ],
    [
      'a oneOf of different types is an anyOf',
      withA({ oneOf: [TEXT, { type: 'integer' }, { type: 'null' }] }),
      withA({ anyOf: [TEXT, { type: 'integer' }, { type: 'null' }] }),
      [{ a: 'a' }, { a: null }, { a: true }],
    ],
    [
      'a oneOf with a discriminator of constants is an anyOf',
      withA(
        {
          oneOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }],
          discriminator: { propertyName: 'kind', mapping: { cat: '#/$defs/Cat', dog: '#/$defs/Dog' } },
        },
        { Cat: objectOf({ kind: { const: 'cat' } }), Dog: objectOf({ kind: { enum: ['dog'] } }) },
      ),
      withA(
        { anyOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }] },
        {
          Cat: objectOf({ kind: { type: 'string', const: 'cat' } }),
          Dog: objectOf({ kind: { type: 'string', enum: ['dog'] } }),
        },
      ),
      [{ a: { kind: 'cat' } }, { a: { kind: 'cow' } }],
    ],
    [
      'an object that is closed in another way is closed in the usual one',
      { ...objectOf({ a: TEXT }), additionalProperties: { not: {} } },
      withA(TEXT),
      [{ a: 'a' }, { a: 'a', b: 1 }],
    ],
  ];
  for (const [rule, schema, strict, values] of rewritten)
    it(rule, () => {
      assert.deepEqual(toStrictSchema(schema), strict);
      const verdicts = values.map((value) => takes(schema, value));
      assert.equal(new Set(verdicts).size, 2);
      assert.deepEqual(
        values.map((value) => takes(strict, value)),
        verdicts,
      );
    });

  const refused: [name: string, schema: JsonSchema][] = [
    ['an optional property', { ...objectOf({ a: TEXT }), required: [] }],
    ['an open object', { type: 'object', properties: { a: TEXT }, required: ['a'] }],
    ['a required property that is not listed', { ...objectOf({ a: TEXT }), required: ['a', 'b'] }],
    ['a part without a type', withA({})],
    ['anything', withA(true)],
    ['properties without the type', withA({ properties: {}, additionalProperties: false })],
    ['a list of anything', withA({ type: 'array' })],
    ['a limit of length', withA({ ...TEXT, minLength: 1 })],
    ['a format outside strict mode', withA({ ...TEXT, format: 'uri' })],
    ['a pattern that looks around', withA({ ...TEXT, pattern: '^(?!a)' })],
    ['an allOf of two', withA({ allOf: [PERSON, objectOf({ url: TEXT })] })],
    ['a oneOf whose parts overlap', withA({ oneOf: [{ type: 'number' }, { type: 'integer' }] })],
    ['a oneOf of objects that nothing tells apart', withA({ oneOf: [PERSON, objectOf({ url: TEXT })] })],
    [
      'a oneOf with more parts than are compared',
      withA({ oneOf: Array.from({ length: 500 }, (_, n) => ({ const: n })) }),
    ],
    ['a reference beside other checks', withA({ ...ref, maxProperties: 1 }, { P: PERSON })],
    ['a reference that leads nowhere', withA(ref)],
    ['a reference to a name', withA({ $ref: '#p' }, { P: { ...PERSON, $anchor: 'p' } })],
    ['a part with a base of its own', withA(ref, { P: { ...PERSON, $id: 'https://example.com/p' } })],
    ['values that are objects', withA({ enum: [{ b: 1 }] })],
    ['not', withA({ ...TEXT, not: { const: 'a' } })],
    ['if', withA({ ...TEXT, if: { const: 'a' }, else: { minLength: 2 } })],
    ['a root that is a choice', { type: 'object', anyOf: [PERSON] }],
    ['11 levels', Array.from({ length: 10 }).reduce<JsonSchema>((inner) => withA(inner), PERSON)],
    [
      '5,001 properties',
      objectOf(Object.fromEntries(Array.from({ length: 5_001 }, (_, n) => [`a${n}`, TEXT]))),
    ],
    ['1,001 enum values', withA({ enum: Array.from({ length: 1_001 }, (_, n) => n) })],
    ['an enum of 251 texts with 15,060 characters', withA({ enum: longTexts(251, 60) })],
    [
      'names and values of over 120,000 characters',
      objectOf({ ['a'.repeat(60_000)]: { const: 'b'.repeat(60_001) } }),
    ],
  ];
  for (const [name, schema] of refused)
    it(`does not take ${name}`, () => assert.equal(toStrictSchema(schema), undefined));

  const largest: [name: string, schema: JsonSchema][] = [
    ['10 levels', Array.from({ length: 8 }).reduce<JsonSchema>((inner) => withA(inner), PERSON)],
    [
      '5,000 properties',
      objectOf(Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`a${n}`, TEXT]))),
    ],
    ['1,000 enum values', withA({ enum: Array.from({ length: 1_000 }, (_, n) => n) })],
    ['an enum of 250 texts with more than 15,000 characters', withA({ enum: longTexts(250, 61) })],
  ];
  for (const [name, schema] of largest) it(`takes ${name}`, () => assert.ok(toStrictSchema(schema)));
});

function longTexts(count: number, length: number): string[] {
  return Array.from({ length: count }, (_, n) => String(n).padEnd(length, 'x'));
}
