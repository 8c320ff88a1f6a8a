import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  addField,
  fitsForm,
  listFields,
  type Members,
  withFields,
  withType,
} from '../../../../console/flow/inspector/schema-form.ts';

const SCHEMA: Members = {
  $comment: 'kept',
  type: 'object',
  properties: { topic: { type: 'string', maxLength: 20 }, urgent: { type: 'boolean' } },
  required: ['topic', 'elsewhere'],
  additionalProperties: false,
};

describe('the form of a JSON Schema', () => {
  it('fits an object whose fields are schemas, and nothing else', () => {
    assert.ok(fitsForm(SCHEMA));
    assert.ok(fitsForm({ type: 'object' }));
    for (const other of [true, {}, { type: 'array' }, { type: 'object', properties: { a: true } }])
      assert.ok(!fitsForm(other), JSON.stringify(other));
  });

  it('changes nothing when the fields are written back unchanged', () => {
    const name = fc.string({ minLength: 1 }).filter((name) => name !== '__proto__');
    const field = fc.record({ type: fc.constantFrom('string', 'number'), title: fc.string() });
    fc.assert(
      fc.property(
        fc.dictionary(name, field, { noNullPrototype: true }),
        fc.array(name),
        (properties, required) => {
          const schema: Members = { type: 'object', properties, required: [...new Set(required)] };
          const written = withFields(schema, listFields(schema));
          assert.deepEqual(written.properties, properties);
          assert.deepEqual(new Set(written.required as string[]), new Set(required));
        },
      ),
    );
  });

  it('keeps unknown keywords, and required names without a field', () => {
    const [topic, urgent] = listFields(SCHEMA);
    assert.ok(topic && urgent);
    assert.deepEqual(
      withFields(SCHEMA, [
        { ...topic, name: 'subject' },
        { ...urgent, isRequired: true },
      ]),
      {
        $comment: 'kept',
        type: 'object',
        properties: { subject: { type: 'string', maxLength: 20 }, urgent: { type: 'boolean' } },
        required: ['subject', 'urgent', 'elsewhere'],
        additionalProperties: false,
      },
    );
  });

  it('adds a field under a free name', () => {
    const twice = addField(addField({ type: 'object' }));
    assert.deepEqual(
      listFields(twice).map(({ name }) => name),
      ['field', 'field_2'],
    );
  });

  it('keeps the description of a field whose type changes, and drops the limits of the old type', () => {
    const field = withType({ type: 'string', description: 'd', maxLength: 3 }, 'number');
    assert.deepEqual(field, { type: 'number', description: 'd' });
  });
});
