import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { findCallsInText } from '../../../activities/model/find-calls-in-text.ts';
import { findJsonValues } from '../../../activities/model/find-json.ts';
import type { JsonSchema } from '../../../flow/definition.ts';
import { readContent } from '../../../platform/models/answers/read-content.ts';
import { schemaResponseFormat } from '../../../platform/models/build-messages.ts';

const closed = { type: 'object', additionalProperties: false };
const a = { a: { type: 'string' } };

describe('schemaResponseFormat', () => {
  const cases: [string, JsonSchema, boolean | undefined][] = [
    ['closed, all required', { ...closed, properties: a, required: ['a'] }, true],
    ['open', { type: 'object', properties: a, required: ['a'] }, false],
    ['an optional property', { ...closed, properties: a }, false],
    ['an open object inside', { ...closed, properties: { a: { type: 'object' } }, required: ['a'] }, false],
    [
      'an open nullable object inside',
      { ...closed, properties: { a: { type: ['object', 'null'] } }, required: ['a'] },
      false,
    ],
    [
      'an open object in an array',
      { ...closed, properties: { a: { type: 'array', items: { type: 'object' } } }, required: ['a'] },
      false,
    ],
    [
      'an open object behind $ref',
      {
        ...closed,
        properties: { a: { $ref: '#/$defs/b' } },
        required: ['a'],
        $defs: { b: { type: 'object' } },
      },
      false,
    ],
    [
      'a choice of closed parts',
      { ...closed, properties: { a: { anyOf: [closed, { type: 'null' }] } }, required: ['a'] },
      true,
    ],
    ['a part without type', { ...closed, properties: { a: {} }, required: ['a'] }, false],
    [
      'a keyword outside strict mode',
      { ...closed, properties: { a: { type: 'string', minLength: 1 } }, required: ['a'] },
      false,
    ],
    ['a root array of strings', { type: 'array', items: { type: 'string' } }, true],
    ['a root array of anything', { type: 'array' }, false],
    ['a root array of open objects', { type: 'array', items: { type: 'object' } }, false],
    ['a root without type', { anyOf: [closed] }, true],
    ['a root that refers to itself', { type: 'array', items: { $ref: '#' } }, true],
    ['a boolean schema', true, undefined],
  ];
  for (const [name, schema, strict] of cases) {
    it(`is ${strict === undefined ? 'not native' : `strict: ${strict}`} for ${name}`, () => {
      assert.equal(schemaResponseFormat(schema)?.json_schema.strict, strict);
    });
  }

  it('is not strict below ten levels', () => {
    let schema: JsonSchema = closed;
    for (let level = 0; level < 10; level++)
      schema = { ...closed, properties: { a: schema }, required: ['a'] };
    assert.equal(schemaResponseFormat(schema)?.json_schema.strict, false);
  });
});

describe('findJsonValues', () => {
  const cases: [string, unknown][] = [
    ['{"a":1}', { a: 1 }],
    [' null ', null],
    ['```json\n{"a":1}\n```', { a: 1 }],
    ['Sure!\n```\n[1]\n```\nAnything else?', [1]],
    ['{"a":"```"}', { a: '```' }],
    ['Ada was 36.', undefined],
    ['```json\n{"a":\n```', undefined],
    ['```', undefined],
    ['', undefined],
  ];
  const changed = ['1e400', '[{"a":-1e400}]', '```\n{"a":1e400}\n```', '9007199254740993'];
  for (const [text, expected] of [
    ...cases,
    ...changed.map((text): [string, undefined] => [text, undefined]),
  ]) {
    it(`reads ${JSON.stringify(text)} as ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(findJsonValues(text), expected === undefined ? [] : [expected]);
    });
  }

  it('keeps a __proto__ key as data', () => {
    assert.deepEqual(Object.keys(findJsonValues('{"__proto__":{"a":1}}')[0] as object), ['__proto__']);
  });
});

describe('an answer that repeats itself until it is two mebibytes long', () => {
  // The time limit ends long before a search whose time grows with the square of the length.
  for (const [name, start, repeated, end = ''] of [
    ['escaped quotes', '{\n"', '\\"'],
    ['words in brackets', '', '[THINK]'],
    ['closing tags of words', 'Oslo ', '</x>'],
    ['line ends after a value', '{"name": "ping"}', '\n', 'x'],
    ['values that are no calls', '', '{"a":1,}\n'],
    ['names of a channel', '<|channel|>', 'to='],
    ['ends of turns', 'Oslo', '<|im_end|>'],
  ] as const)
    it(`is read in time: ${name}`, async () => {
      const text = start + repeated.repeat((2 * 1024 ** 2) / repeated.length) + end;
      findJsonValues(text);
      assert.equal(findCallsInText(text.slice(0, 1024 ** 2), ['ping']), undefined);
      assert(readContent({ content: text }));
      await setImmediate();
    }).timeout(20_000);
});
