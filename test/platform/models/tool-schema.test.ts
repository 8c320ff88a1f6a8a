// The parameters of everyday tools, in the form that providers take: OpenAI and Anthropic want an object at the root.
import assert from 'node:assert/strict';
import type { Json, JsonSchema } from '../../../flow/definition.ts';
import { takesObjects, toSentTool } from '../../../platform/models/tool-schema.ts';

type Keywords = { [keyword: string]: Json };

const of = (properties: Keywords, more: Keywords = {}): Keywords => ({
  type: 'object',
  properties,
  ...more,
});
const text = { type: 'string' };

function send(parameters: Keywords, strict?: boolean) {
  return toSentTool({ type: 'function', function: { name: 'f', parameters, strict } }).function;
}

describe('the parameters of a tool', () => {
  const city = of({ city: text }, { required: ['city'], additionalProperties: false });
  for (const [name, given, sent] of [
    ['without a type', { properties: { a: text } }, of({ a: text })],
    ['that may be null', of({ a: text }, { nullable: true }), of({ a: text })],
    ['without properties', { type: 'object' }, of({})],
    [
      'behind a reference, as zod-to-json-schema writes them',
      { $ref: '#/definitions/Args', definitions: { Args: city } },
      { ...city, definitions: { Args: city } },
    ],
    [
      'behind a reference that leads to itself',
      { $ref: '#/$defs/N', $defs: { N: { $ref: '#/$defs/N' } } },
      of({}, { $defs: { N: { $ref: '#/$defs/N' } } }),
    ],
  ] as [string, Keywords, Keywords][])
    it(`are those of an object: ${name}`, () => assert.deepEqual(send(given).parameters, sent));

  for (const keyword of ['oneOf', 'anyOf', 'allOf'])
    it(`have the properties of all parts of ${keyword}, which is described`, () => {
      const parts = [of({ k: { const: 'a' }, x: text }, { required: ['k', 'x'] }), { $ref: '#/$defs/B' }];
      const $defs = { B: of({ k: { const: 'b' } }) };
      const { parameters } = send({ description: 'What to do.', [keyword]: parts, $defs });
      assert.deepEqual(parameters, {
        type: 'object',
        properties: { k: { anyOf: [{ const: 'a' }, { const: 'b' }] }, x: text },
        description: `What to do. (${keyword}: ${JSON.stringify(parts)})`,
        $defs,
      });
    });

  it('may have names that objects inherit', () => {
    const { parameters } = send({ anyOf: [of({ constructor: text }), of({ toString: text })] });
    assert.deepEqual(parameters?.properties, { constructor: text, toString: text });
  });

  it('are strict only where strict mode can express them', () => {
    assert.equal(send(city, true).strict, true);
    assert.equal(send({ anyOf: [city] }, true).strict, false);
    assert.ok(!('strict' in send(city) && send(city).strict));
  });

  for (const [parameters, takes] of [
    [city, true],
    [{}, true],
    [{ type: ['object', 'null'] }, true],
    [{ type: 'array' }, false],
    [{ $ref: '#/$defs/T', $defs: { T: text } }, false],
  ] as [JsonSchema, boolean][])
    it(`${takes ? 'can' : 'cannot'} be an object: ${JSON.stringify(parameters).slice(0, 60)}`, () =>
      assert.equal(takesObjects(parameters), takes));
});
