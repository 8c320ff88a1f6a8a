import assert from 'node:assert/strict';
import type { JsonSchema } from '../../../flow/definition.ts';
import {
  createValidator,
  type OrganizationValidator,
  type Validator,
} from '../../../platform/json-schema/validator.ts';

describe('JSON Schemas that refer to themselves', () => {
  let all: Validator;
  let validator: OrganizationValidator;
  before(() => {
    all = createValidator();
    validator = all.of('organization');
  });
  after(() => all.close());

  const endless: [name: string, schema: JsonSchema][] = [
    ['at once', { $ref: '#' }],
    ['in a part', { properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { not: { $ref: '#/$defs/a' } } } }],
    ['in the first alternative', { anyOf: [{ $ref: '#' }, { type: 'string' }] }],
    ['in an alternative after one that holds', { anyOf: [{ type: 'string' }, { $ref: '#' }] }],
    ['whichever way', JSON.parse('{"if":{"type":"string"},"then":{"$ref":"#"},"else":{"$ref":"#"}}')],
    ['in the only way', JSON.parse('{"if":true,"then":{"$ref":"#"}}')],
    ['where all values fit', JSON.parse('{"if":{},"then":{"$ref":"#"}}')],
    ['where no value fits', JSON.parse('{"if":{"not":{}},"else":{"$ref":"#"}}')],
    [
      'by a name that a constant has too',
      {
        $ref: '#n',
        $defs: { a: { $anchor: 'n', $ref: '#n' }, z: { const: { $anchor: 'n' } } },
      } as JsonSchema,
    ],
    ['in a part that is called like a keyword', { properties: { default: { $anchor: 'n', $ref: '#n' } } }],
    ['within an $id of its own', { items: { $id: 'http://x.test/a', allOf: [{ $ref: '#' }] } }],
    ['in an alternative that has to fail', { oneOf: [{ type: 'string' }, { $ref: '#' }] }],
    ['dynamically', { $dynamicAnchor: 'a', allOf: [{ $dynamicRef: '#a' }] }],
    [
      'in a circle',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } } },
    ],
  ];
  for (const [how, schema] of endless)
    it(`are refused before there is a value, when they do so for the same value: ${how}`, async () => {
      const error = { code: 'SCHEMA_INVALID', message: /refers to itself without end/ };
      await assert.rejects(validator.requireValidSchema(schema), error);
      await assert.rejects(validator.validate(schema, 'x'), error);
    });

  it('are taken when they do so for parts of the value, or where that may be left', async () => {
    await validator.requireValidSchema({ properties: { more: { items: { $ref: '#' } } } });
    await validator.requireValidSchema({ anyOf: [{ type: 'null' }, { items: { $ref: '#' } }] });
    await validator.requireValidSchema({ if: { $ref: '#' } });
    await validator.requireValidSchema(JSON.parse('{"if":{"type":"array"},"then":{"$ref":"#"}}'));
    const draft = 'http://json-schema.org/draft-07/schema#';
    await validator.requireValidSchema({ $schema: draft, anyOf: [{ type: 'string' }, { $ref: '#' }] });
    const inner = {
      $id: 'http://x.test/b',
      allOf: [{ $ref: '#/$defs/s' }],
      $defs: { s: { type: 'object' } },
    };
    await validator.requireValidSchema({ allOf: [inner], $defs: { s: { allOf: [{ $ref: '#' }] } } });
  });
});
