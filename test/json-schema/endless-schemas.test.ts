import assert from 'node:assert/strict';
import type { JsonSchema } from '../../flow/definition.ts';
import { createValidator, type OrganizationValidator, type Validator } from '../../json-schema/validator.ts';

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
  });
});
