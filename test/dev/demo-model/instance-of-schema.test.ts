import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { instanceOf } from '../../../dev/demo-model/instance-of-schema.ts';

const words = ['Weirs', 'in', 'rivers'];

describe('instanceOf', () => {
  const ajv = addFormats.default(new Ajv2020({ strict: false }));
  const schemas: Record<string, Record<string, unknown>> = {
    types: {
      type: 'object',
      properties: {
        s: { type: 'string' },
        i: { type: 'integer' },
        n: { type: 'number' },
        b: { type: 'boolean' },
        z: { type: 'null' },
        o: { type: 'object', properties: { s: { type: ['string', 'null'] } }, required: ['s'] },
        a: { type: 'array', items: { type: 'integer' }, uniqueItems: true },
      },
      required: ['s', 'i', 'n', 'b', 'z', 'o', 'a', 'undeclared'],
    },
    'enum and const': { type: 'object', properties: { e: { enum: [null, 1] }, c: { const: { x: 1 } } } },
    lengths: { type: 'array', items: { type: 'string', minLength: 200, maxLength: 201 }, minItems: 3 },
    'short strings': { type: 'array', items: { type: 'string', maxLength: 1 }, maxItems: 1 },
    bounds: {
      type: 'array',
      prefixItems: [
        { type: 'number', minimum: 5, maximum: 5 },
        { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
        { type: 'integer', exclusiveMinimum: 10 },
        { type: 'integer', exclusiveMaximum: -3 },
        { type: 'integer', minimum: 1, multipleOf: 7 },
        { type: 'number', maximum: -0.5 },
      ],
    },
    formats: {
      type: 'object',
      properties: Object.fromEntries(
        ['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'].map(
          (format) => [format, { type: 'string', format }],
        ),
      ),
    },
    '$ref, anyOf and allOf': {
      $defs: {
        name: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        'a/b': { anyOf: [{ type: 'integer' }, { type: 'string' }] },
      },
      type: 'object',
      properties: {
        all: {
          allOf: [{ $ref: '#/$defs/name' }, { properties: { age: { type: 'integer' } }, required: ['age'] }],
        },
        any: { $ref: '#/$defs/a~1b' },
      },
      required: ['all', 'any'],
    },
    'a tree': {
      type: 'object',
      properties: { value: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
      required: ['value', 'children'],
    },
    'a type it has to infer': { properties: { list: { items: { minimum: 3 } } } },
  };
  for (const [name, schema] of Object.entries(schemas)) {
    it(`conforms: ${name}`, () => {
      const value = instanceOf(schema, words);
      assert.ok(ajv.validate(schema, value), `${ajv.errorsText()}: ${JSON.stringify(value)}`);
    });
  }

  it("fills strings with the prompt's words", () => {
    assert.deepEqual(instanceOf({ type: 'object', properties: { title: { type: 'string' } } }, words), {
      title: 'Weirs in rivers',
    });
  });

  const both = { allOf: [{ $ref: '#' }, { $ref: '#' }] };
  const runaways: Record<string, Record<string, unknown>> = {
    'a reference to itself': { $ref: '#' },
    'a fan of references': { type: 'object', properties: { a: both, b: both }, required: ['a', 'b'] },
    'an endless chain': { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] },
    'a billion items': { type: 'array', items: { type: 'array', minItems: 1e9 }, minItems: 1e9 },
    'a string without end': { type: 'string', minLength: 1e12 },
    nonsense: { type: 'object', properties: 'x', required: 7, allOf: [null, 'a'], $ref: '#/%zz/y' },
  };
  for (const [name, schema] of Object.entries(runaways)) {
    it(`comes to an end: ${name}`, () => assert.doesNotThrow(() => instanceOf(schema, words)));
  }

  it('has a million characters or so at most, however many long strings are asked for', () => {
    const strings = { type: 'array', minItems: 200, items: { type: 'string', minLength: 10_000 } };
    const filled = instanceOf(strings, words) as string[];
    assert.equal(filled.length, 200);
    assert.ok(filled[0]?.length === 10_000);
    assert.ok(filled.join('').length < 1_100_000);
  });
});
