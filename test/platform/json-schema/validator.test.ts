// Ordinary JSON Schemas do what their authors expect.
import assert from 'node:assert/strict';
import type { Json, JsonSchema } from '../../../flow/definition.ts';
import {
  createValidator,
  type OrganizationValidator,
  type Validator,
} from '../../../platform/json-schema/validator.ts';

const PERSON: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://example.com/person.json',
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 10 },
    age: { type: 'integer', minimum: 0 },
    email: { type: 'string', format: 'email' },
    role: { enum: ['admin', 'user'] },
    friends: { type: 'array', items: { $ref: '#/$defs/friend' }, maxItems: 3, uniqueItems: true },
  },
  required: ['name', 'age'],
  additionalProperties: false,
  $defs: { friend: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
};

/** As OpenAI's structured outputs ask for it. */
const STEPS: JsonSchema = {
  type: 'object',
  properties: {
    steps: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          explanation: { type: 'string', description: 'why' },
          output: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        },
        required: ['explanation', 'output'],
        additionalProperties: false,
      },
    },
    final: { type: ['string', 'null'] },
  },
  required: ['steps', 'final'],
  additionalProperties: false,
};

describe('JSON Schema validator', () => {
  let all: Validator;
  let validator: OrganizationValidator;
  before(() => {
    all = createValidator();
    validator = all.of('organization');
  });
  after(() => all.close());

  const rows: [name: string, schema: JsonSchema, value: Json, problems: string[]][] = [
    ['true takes anything', true, { any: 1 }, []],
    ['false takes nothing', false, 1, [': boolean schema is false']],
    ['a valid object', PERSON, { name: 'Ann', age: 3, friends: [{ name: 'Bob' }] }, []],
    ['a missing property', PERSON, { name: 'Ann' }, [": must have required property 'age'"]],
    [
      'several problems at once',
      PERSON,
      { name: '', age: 1.5 },
      ['/name: must NOT have fewer than 1 characters', '/age: must be integer'],
    ],
    [
      'an additional property, by name',
      PERSON,
      { name: 'Ann', age: 1, x: 1 },
      [': must NOT have additional properties: "x"'],
    ],
    [
      'a value outside an enum, with the enum',
      PERSON,
      { name: 'Ann', age: 1, role: 'x' },
      ['/role: must be equal to one of the allowed values: ["admin","user"]'],
    ],
    [
      'a problem below a reference',
      PERSON,
      { name: 'Ann', age: 1, friends: [{ name: 1 }] },
      ['/friends/0/name: must be string'],
    ],
    ['a format', PERSON, { name: 'Ann', age: 1, email: 'nobody' }, ['/email: must match format "email"']],
    ['lengths in characters, not UTF-16 units', { maxLength: 2 }, '😀😀', []],
    ['structured output, valid', STEPS, { steps: [{ explanation: 'a', output: null }], final: '1' }, []],
    [
      'structured output, invalid',
      STEPS,
      { steps: [{ explanation: 'a' }], final: null },
      ["/steps/0: must have required property 'output'"],
    ],
    ['a constant', { const: { a: 1 } }, { a: 2 }, [': must be {"a":1}']],
    [
      '2020-12: prefixItems and items',
      { prefixItems: [{ type: 'string' }], items: false },
      ['a', 1],
      [': must NOT have more than 1 items'],
    ],
    [
      '2020-12: unevaluatedProperties',
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      { a: 1, b: 1 },
      [': must NOT have unevaluated properties: "b"'],
    ],
    [
      '2020-12: $dynamicRef',
      { $dynamicAnchor: 'node', type: 'object', properties: { next: { $dynamicRef: '#node' } } },
      { next: { next: 1 } },
      ['/next/next: must be object'],
    ],
    [
      'draft-07: items as a list',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        items: [{ type: 'string' }],
        additionalItems: false,
      },
      [1],
      ['/0: must be string'],
    ],
    [
      'draft-07: definitions',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $ref: '#/definitions/a',
        definitions: { a: { type: 'string' } },
      },
      1,
      [': must be string'],
    ],
    ['a recursive schema', { type: 'array', items: { $ref: '#' } }, [[], [1]], ['/1/0: must be array']],
    ['an unknown format is a note', { format: 'postcode' }, 'x', []],
    ['an unknown keyword is a note', { 'x-order': 1, example: { $ref: 1 } }, 'x', []],
    [
      'date-time with a day that does not exist',
      { format: 'date-time' },
      '2024-02-30T00:00:00Z',
      [': must match format "date-time"'],
    ],
    [
      'patterns are not confused with each other',
      { properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } },
      { a: 'a', b: 'a' },
      ['/b: must match pattern "^b$"'],
    ],
    [
      'patternProperties',
      { patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false },
      { 'x-a': 1 },
      ['/x-a: must be string'],
    ],
    [
      'a pattern with classes and escapes',
      { pattern: '^[\\w.]+\\/\\d{2,4}\\u00e9(?<n>z)$' },
      'a.b/123éz',
      [],
    ],
    [
      'a required property is not inherited',
      { required: ['toString'] },
      {},
      [": must have required property 'toString'"],
    ],
    [
      'properties named like keywords',
      { properties: { $ref: { type: 'string' }, properties: { type: 'number' } } },
      { $ref: 1 },
      ['/$ref: must be string'],
    ],
    [
      'a JSON Pointer is escaped',
      { additionalProperties: { type: 'string' } },
      { 'a/b~c': 1 },
      ['/a~1b~0c: must be string'],
    ],
  ];
  for (const [name, schema, value, problems] of rows) {
    it(name, async () => {
      const found = await validator.validate(schema, value);
      assert.deepEqual(
        found.map(({ path, message }) => `${path}: ${message}`),
        problems,
      );
    });
  }

  it('__proto__ in a value is data', async () => {
    const value: Json = JSON.parse('{"__proto__": {"admin": true}}');
    assert.deepEqual(await validator.validate({ required: ['admin'] }, value), [
      { path: '', message: "must have required property 'admin'" },
    ]);
    assert.equal((await validator.validate({ additionalProperties: false }, value)).length, 1);
    assert.deepEqual(Object.keys(value as object), ['__proto__']);
  });

  it('__proto__ in a schema is data', async () => {
    await validator.requireValidSchema(
      JSON.parse('{"properties": {"__proto__": {"type": "string"}}, "__proto__": {"type": "string"}}'),
    );
    assert.deepEqual(await validator.validate(JSON.parse('{"__proto__": {"type": "string"}}'), 1), []);
  });

  it('gives at most 10 problems', async () => {
    const problems = await validator.validate(
      { items: { type: 'string' } },
      Array.from({ length: 100 }, () => 1),
    );
    assert.equal(problems.length, 10);
  });

  it('two schemas with the same $id do not meet', async () => {
    const a = {
      $id: 'https://example.com/same',
      type: 'string',
      $defs: { x: { $id: 'inner', type: 'string' } },
    };
    const b = {
      $id: 'https://example.com/same',
      type: 'number',
      $defs: { x: { $id: 'inner', type: 'number' } },
    };
    assert.equal((await validator.validate(a, 1)).length, 1);
    assert.deepEqual(await validator.validate(b, 1), []);
  });

  it('changes neither schema nor value', async () => {
    const value = { n: '1' };
    await validator.validate({ properties: { n: { type: 'number' }, d: { default: 1 } } }, value);
    assert.deepEqual(value, { n: '1' });
  });

  it('answers concurrent calls each with its own result', async () => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, n) => validator.validate({ maximum: 24 }, n)),
    );
    assert.deepEqual(
      results.map((problems) => problems.length),
      Array.from({ length: 50 }, (_, n) => Number(n > 24)),
    );
  });
});
