// Schemas of OpenAPI, older drafts and common generators mean what their authors expect.
import assert from 'node:assert/strict';
import { z } from 'zod';
import type { Json, JsonSchema } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { standardizeSchema } from '../../../platform/json-schema/standardize-schema.ts';
import {
  createValidator,
  type OrganizationValidator,
  type Validator,
} from '../../../platform/json-schema/validator.ts';
import { schemaResponseFormat } from '../../../platform/models/build-messages.ts';

const TEXT = { type: 'string' };
const of = (properties: Json): { [keyword: string]: Json } => ({ type: 'object', properties });
const $defs = { F: { type: 'object' } };
const EMAIL =
  "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$";

describe('everyday schemas', () => {
  let all: Validator;
  let validator: OrganizationValidator;
  before(() => {
    all = createValidator();
    validator = all.of('organization');
  });
  after(() => all.close());

  const taken: [name: string, schema: JsonSchema, valid: Json[], invalid: Json[]][] = [
    ['nullable beside a type', { ...TEXT, nullable: true }, ['a', null], [1]],
    ['nullable with its limits', { ...TEXT, minLength: 2, nullable: true }, ['ab', null], ['a']],
    ['x-nullable of Swagger 2', { ...TEXT, 'x-nullable': true }, ['a', null], [1]],
    ['nullable: false', { ...TEXT, nullable: false }, ['a'], [null]],
    ['nullable of several types', { type: ['string', 'null'], nullable: true }, ['a', null], [1]],
    [
      'nullable beside anyOf',
      { ...of({ fork: { nullable: true, anyOf: [{ $ref: '#/$defs/F' }] } }), $defs },
      [{ fork: {} }, { fork: null }],
      [{ fork: 1 }],
    ],
    [
      'nullable beside $ref',
      { ...of({ fork: { $ref: '#/$defs/F', nullable: true } }), $defs },
      [{ fork: {} }, { fork: null }],
      [{ fork: 1 }],
    ],
    [
      'nullable beside allOf of one, as .NET writes',
      { ...of({ fork: { allOf: [{ $ref: '#/$defs/F' }], nullable: true } }), $defs },
      [{ fork: {} }, { fork: null }],
      [{ fork: 1 }],
    ],
    [
      'nullable beside oneOf and a type',
      { type: 'string', oneOf: [{ minLength: 2 }], nullable: true },
      ['ab', null],
      ['a'],
    ],
    [
      'nullable beside an enum with null',
      of({ size: { nullable: true, enum: ['S', null] } }),
      [{ size: null }],
      [{ size: 'M' }],
    ],
    ['nullable beside a type and an enum', { ...TEXT, enum: ['S'], nullable: true }, ['S', null], ['M']],
    ['nullable beside const', { const: 'S', nullable: true }, ['S', null], ['M']],
    ['nullable alone', { nullable: true }, [null, 1], []],
    [
      'references into a nullable part',
      {
        ...of({
          a: { allOf: [{ type: 'object' }], properties: { b: { type: 'integer' } }, nullable: true },
          c: { $ref: '#/properties/a/properties/b' },
          d: { $ref: '#/properties/a' },
        }),
      },
      [{ a: null, c: 1, d: null }, { d: { b: 1 } }],
      [{ c: null }, { c: 'a' }, { d: { b: 'a' } }],
    ],
    ['exclusiveMinimum of draft-04', { type: 'number', minimum: 1, exclusiveMinimum: true }, [2], [1]],
    [
      'exclusiveMaximum: false of draft-04',
      { type: 'number', maximum: 1, exclusiveMaximum: false },
      [1],
      [2],
    ],
    [
      'draft-04 with id, definitions and a list of items',
      {
        $schema: 'http://json-schema.org/draft-04/schema#',
        id: 'https://example.com/a',
        type: 'array',
        items: [TEXT, { $ref: '#/definitions/n' }],
        additionalItems: false,
        definitions: { n: { type: 'integer' } },
      },
      [['a', 1], ['a']],
      [
        ['a', 'b'],
        ['a', 1, 1],
      ],
    ],
    [
      'items as a list, and references into it',
      { type: 'array', items: [TEXT, { $ref: '#/items/0' }], additionalItems: { type: 'null' } },
      [['a', 'b', null]],
      [
        ['a', 1],
        ['a', 'b', 'c'],
      ],
    ],
    ['draft-06', { $schema: 'http://json-schema.org/draft-06/schema#', const: 1 }, [1], [2]],
    ['draft-07 with https', { $schema: 'https://json-schema.org/draft-07/schema#', ...TEXT }, ['a'], [1]],
    ['2020-12 with http', { $schema: 'http://json-schema.org/draft/2020-12/schema', ...TEXT }, ['a'], [1]],
    ['multiples of a cent', { multipleOf: 0.01 }, [19.99, 0.07, -4.35, 1e15], [19.995, 0.001]],
    ['multiples of a whole number', { multipleOf: 7 }, [7e15, 0], [8, 7e15 + 1, 7.000001]],
    ['2019-09', { $schema: 'https://json-schema.org/draft/2019-09/schema', items: [TEXT] }, [['a']], [[1]]],
    [
      'required: true of a property',
      of({ a: { ...TEXT, required: true }, b: { required: false } }),
      [{ a: 'a' }],
      [{}],
    ],
    [
      'a required name that is listed twice',
      { ...of({ a: TEXT }), required: ['a', 'a'] },
      [{ a: 'a' }],
      [{}],
    ],
    [
      'the references of Jackson to an id',
      of({
        a: { type: 'object', id: 'urn:jsonschema:A', required: [], properties: { n: { type: 'integer' } } },
        b: { $ref: 'urn:jsonschema:A' },
      }),
      [{ b: { n: 1 } }],
      [{ b: { n: 'a' } }],
    ],
    [
      'references by the whole name of the schema',
      {
        $id: 'https://example.com/a.json',
        ...of({ a: { $ref: 'https://example.com/a.json#/$defs/F' } }),
        $defs,
      },
      [{ a: {} }],
      [{ a: 1 }],
    ],
    [
      'the capitals of Google',
      { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true } } },
      [{ a: null }],
      [{ a: 1 }],
    ],
    [
      'keywords that a generator left null',
      {
        title: null,
        description: null,
        type: 'string',
        pattern: null,
        enum: null,
        minLength: null,
        default: null,
      },
      ['a'],
      [1],
    ],
    ['notes of another type', { ...TEXT, deprecated: 'since 2', examples: { a: 1 }, example: 1 }, ['a'], [1]],
    [
      'a discriminator of constants',
      {
        oneOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }],
        discriminator: { propertyName: 'kind', mapping: { cat: '#/$defs/Cat', dog: '#/$defs/Dog' } },
        $defs: { Cat: of({ kind: { const: 'cat' } }), Dog: of({ kind: { const: 'dog' } }) },
      },
      [{ kind: 'cat' }],
      [{ kind: 'cow' }],
    ],
    [
      'a discriminator by the names of the parts',
      {
        oneOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }],
        discriminator: { propertyName: 'kind' },
        $defs: { Cat: of({ kind: TEXT }), Dog: of({ kind: TEXT, age: { type: 'integer' } }) },
      },
      [{ kind: 'Cat' }, { kind: 'Dog', age: 1 }],
      [{ kind: 'Cow' }, { kind: 'Dog', age: 'a' }, {}],
    ],
    [
      'a discriminator with a mapping',
      {
        oneOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }],
        discriminator: { propertyName: 'kind', mapping: { c: '#/$defs/Cat', d: 'Dog' } },
        $defs: { Cat: of({ kind: TEXT }), Dog: of({ kind: TEXT }) },
      },
      [{ kind: 'c' }, { kind: 'd' }],
      [{ kind: 'Cat' }],
    ],
    [
      'an e-mail pattern that looks ahead',
      { ...TEXT, format: 'email', pattern: EMAIL },
      ['a.b@c.de'],
      ['.a@c.de', 'a..b@c.de', 'a'],
    ],
    [
      'a password',
      { ...TEXT, pattern: '^(?=.*[A-Z])(?=.*\\d).{8,}$' },
      ['Abcdefg1'],
      ['abcdefg1', 'Abcdefgh', 'Abc1'],
    ],
    [
      'a label without hyphens at its ends',
      { ...TEXT, pattern: '^(?!-)[a-z(?=)-]{1,9}(?<!-)$' },
      ['a-b'],
      ['-a', 'a-', ''],
    ],
  ];
  for (const [name, schema, valid, invalid] of taken)
    it(`take ${name}`, async () => {
      const before = structuredClone(schema);
      for (const value of valid)
        assert.deepEqual(await validator.validate(schema, value), [], JSON.stringify(value));
      for (const value of invalid)
        assert.notDeepEqual(await validator.validate(schema, value), [], JSON.stringify(value));
      assert.deepEqual(schema, before);
    });

  const refused: [name: string, schema: JsonSchema, path: string, advice: RegExp][] = [
    [
      'an exclusive bound without a bound',
      of({ a: { exclusiveMinimum: true } }),
      '/properties/a/exclusiveMinimum',
      /as a number/,
    ],
    ['required: true of an item', { items: { required: true } }, '/items/required', /\["name"\]/],
    [
      'a type of another language',
      of({ a: { type: 'float' } }),
      '/properties/a/type',
      /"float" is no type: write number/,
    ],
    ['any as a type', { items: { type: ['null', 'any'] } }, '/items/type/1', /leave type out/],
    ['an unknown type', of({ a: { type: 'money' } }), '/properties/a/type', /the types are string, /],
    ['an empty enum', of({ a: { enum: [] } }), '/properties/a/enum', /leave it out/],
    [
      'nullable that is no flag',
      of({ a: { ...TEXT, nullable: 'yes' } }),
      '/properties/a/nullable',
      /true or false/,
    ],
    ['a property outside properties', { type: 'object', id: TEXT }, '/id', /inside properties/],
    [
      'a reference to a part of another document',
      of({ a: { $ref: '#/components/schemas/A' } }),
      '/properties/a/$ref',
      /\$defs/,
    ],
    [
      'a mistake inside a nullable part',
      of({ a: { nullable: true, not: {}, minLength: 'a' } }),
      '/properties/a/minLength',
      /integer|number/,
    ],
    ['a mistake inside a list of items', { items: [{ minimum: 'a' }] }, '/items/0/minimum', /number/],
    [
      'look-around in the middle',
      of({ a: { pattern: '^a(?!b)c' } }),
      '/properties/a/pattern',
      /Write it without/,
    ],
    [
      'look-around beside alternatives',
      of({ a: { pattern: '^(?!b)c|d' } }),
      '/properties/a/pattern',
      /Write it without/,
    ],
    ['another dialect', { $schema: 'http://json-schema.org/draft-03/schema#' }, '/$schema', /known dialects/],
  ];
  for (const [name, schema, path, advice] of refused)
    it(`name the place of ${name}, and what to write`, async () => {
      await assert.rejects(validator.requireValidSchema(schema), (error) => {
        assert.ok(error instanceof ServiceError);
        assert.deepEqual([error.code, error.extra.path], ['SCHEMA_INVALID', path]);
        assert.match(error.message, advice);
        return true;
      });
    });

  const zods: [name: string, type: z.ZodType, valid: Json, invalid: Json][] = [
    ['email', z.email(), 'a.b@c.de', 'a..b@c.de'],
    ['uuid', z.uuid(), '123e4567-e89b-42d3-a456-426614174000', '123e4567'],
    ['url', z.url(), 'https://a.example', 'a b'],
    ['hostname', z.hostname(), 'a.example', `${'a'.repeat(63)}.`.repeat(5)],
    ['emoji', z.emoji(), '👍🏽', '12'],
    ['cuid', z.cuid(), 'cjld2cjxh0000qzrmn831i7rn', 'a'],
    ['cuid2', z.cuid2(), 'tz4a98xxat96iws9zmbrgj3a', 'A!'],
    ['ulid', z.ulid(), '01ARZ3NDEKTSV4RRFFQ69G5FAV', 'a'],
    ['nanoid', z.nanoid(), 'V1StGXR8_Z5jdHi6B-myT', 'a'],
    ['ipv4', z.ipv4(), '127.0.0.1', '1.2.3'],
    ['ipv6', z.ipv6(), '::1', '1.2.3.4'],
    ['cidrv4', z.cidrv4(), '10.0.0.0/8', '10.0.0.0'],
    ['base64', z.base64(), 'aGk=', 'a'],
    ['base64url', z.base64url(), 'aGk', 'a=b'],
    ['e164', z.e164(), '+4712345678', '12'],
    ['datetime', z.iso.datetime(), '2026-11-30T12:00:00Z', '2026-11-31T12:00:00Z'],
    ['date', z.iso.date(), '2024-02-29', '2023-02-29'],
    ['time', z.iso.time(), '12:00', '25:00'],
    ['duration', z.iso.duration(), 'P1DT2H', 'P1DT'],
    ['a duration in weeks', z.iso.duration(), 'P2W', 'P2W1D'],
    ['parts of a text', z.string().startsWith('a').includes('b'), 'ab', 'ac'],
    ['nullable', z.string().nullable(), null, 1],
    ['tuple', z.tuple([z.string(), z.number()]), ['a', 1], ['a', 'b']],
    ['record', z.record(z.string(), z.number()), { a: 1 }, { a: 'b' }],
    [
      'discriminated union',
      z.discriminatedUnion('k', [
        z.object({ k: z.literal('a') }),
        z.object({ k: z.literal('b'), n: z.int() }),
      ]),
      { k: 'b', n: 1 },
      { k: 'b' },
    ],
  ];
  for (const [name, type, valid, invalid] of zods)
    it(`take what zod writes for ${name}, in each of its dialects`, async () => {
      for (const target of ['draft-2020-12', 'draft-07', 'draft-04', 'openapi-3.0'] as const) {
        if (name === 'tuple' && target === 'openapi-3.0') continue;
        const schema = z.toJSONSchema(type, { target }) as JsonSchema;
        assert.deepEqual(await validator.validate(schema, valid), [], target);
        assert.notDeepEqual(await validator.validate(schema, invalid), [], target);
      }
    });

  it('are sent to providers in standard keywords', () => {
    const schema = {
      ...of({ a: { $ref: '#/$defs/F', nullable: true } }),
      required: ['a'],
      additionalProperties: false,
    };
    const { schema: standard } = standardizeSchema({ ...schema, $defs: { F: TEXT } });
    assert.partialDeepStrictEqual(schemaResponseFormat(standard), {
      json_schema: {
        strict: true,
        schema: {
          properties: { a: { anyOf: [{ $ref: '#/$defs/F' }, { type: 'null' }] } },
          $defs: { F: TEXT },
        },
      },
    });
  });
});
