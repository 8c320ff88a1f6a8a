import assert from 'node:assert/strict';
import {
  JSON_KEYS_MAX,
  JSON_VALUES_MAX,
  measureJson,
  mostOf,
  weigh,
} from '../../../platform/json-text/measure-json.ts';

describe('measureJson', () => {
  const find = (text: string) => measureJson(Buffer.from(text)).excess;
  const keys = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join()}}`;

  it('counts the members of objects and lists and their different keys, not what is in texts', () => {
    const count = (value: unknown) => measureJson(Buffer.from(JSON.stringify(value)));
    assert.deepEqual(count({ a: [1, [2, 3]], b: 'x' }), { values: 6, keys: 2 });
    assert.deepEqual(count({ a: '[],{},"b":' }), { values: 1, keys: 1 });
    assert.deepEqual(count([{ a: 1 }, { a: 2 }]), { values: 4, keys: 1 });
  });

  const fine: [string, string][] = [
    ['as many values as are taken', `[${'0,'.repeat(JSON_VALUES_MAX - 2)}0]`],
    ['as many keys as are taken', keys(JSON_KEYS_MAX)],
    ['many equal keys', `[${Array(200_000).fill('{"a":1}').join()}]`],
    ['a long text of what would be values', JSON.stringify('[],{},:"'.repeat(1_000_000))],
    ['escaped quotes and backslashes', JSON.stringify(['\\', '\\"', '"[,'.repeat(1_000_000)])],
    ['a long text before many colons', `"${'x'.repeat(5_000_000)}"${':'.repeat(5_000_000)}`],
    ['a text that never ends', `"${'['.repeat(1_000_000)}`],
    ['nothing', ''],
  ];
  for (const [rule, text] of fine) it(`takes ${rule}`, () => assert.equal(find(text), undefined));

  const refused: [string, string, RegExp][] = [
    ['one value more', `[${'0,'.repeat(JSON_VALUES_MAX)}0]`, /more than 500000 values/],
    ['empty lists', '[],'.repeat(JSON_VALUES_MAX), /more than 500000 values/],
    ['brackets that only open', '['.repeat(JSON_VALUES_MAX + 1), /more than 500000 values/],
    ['values between texts', `"a",`.repeat(JSON_VALUES_MAX + 1), /more than 500000 values/],
    ['too many keys', keys(JSON_KEYS_MAX + 5_000), /more than 100000 different keys/],
    [
      'too many keys in objects of their own',
      `[${Array.from({ length: 120_000 }, (_, i) => `{"k${i}":1}`).join()}]`,
      /keys/,
    ],
  ];
  for (const [rule, text, message] of refused)
    it(`refuses ${rule}`, () => assert.match(find(text) ?? '', message));

  it('weighs texts so that those of so many bytes together hold no more than mostOf these', () => {
    const part = `[${'1,'.repeat(9_999)}1]`;
    const bytes = 3 * weigh(part);
    assert.equal(
      measureJson(Buffer.from(`[${part},${part},${part}]`), mostOf(bytes + 100)).excess,
      undefined,
    );
    assert.match(
      measureJson(Buffer.from(`[${part},${part},${part}]`), mostOf(bytes - 100)).excess ?? '',
      /values/,
    );
    assert.equal(weigh('{"a":1,"b":2}'), 24);
    assert.equal(weigh('"é"'), 4);
  });
});
