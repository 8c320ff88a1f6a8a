import assert from 'node:assert/strict';
import { excerpt } from '../../activities/evaluate-test.ts';
import type { Json } from '../../flow/definition.ts';

describe('excerpt', () => {
  const long = 'x"'.repeat(200);
  const values: Json[] = [
    null,
    -1.5,
    '',
    [],
    {},
    [[], {}, [null, true], { 'a"b': [1], c: 'd\n' }],
    'x'.repeat(298),
    'x'.repeat(299),
    long,
    `${'x'.repeat(298)}\u{1F600}`,
    { [long]: 1, [`${long}x`]: 2 },
    { a: { b: [long, 1] }, c: 1 },
    Array(149).fill(0),
    Array(150).fill(0),
    Array(151).fill(0),
    Array(400).fill([{ a: 'b' }]),
  ];
  for (const value of values) {
    const json = JSON.stringify(value);
    it(`is the JSON of a value, or its first 300 characters: ${json.slice(0, 20)} of ${json.length}`, () =>
      assert.equal(excerpt(value), json.length > 300 ? `${json.slice(0, 300)}…` : json));
  }

  it('says that a value is absent', () => assert.equal(excerpt(undefined), 'absent'));

  it('looks at nothing of a value but its beginning', () => {
    const list: Json[] = Array(1_000).fill(0);
    Object.defineProperty(list, 500, {
      get: () => assert.fail('looks at what it does not write'),
      enumerable: true,
    });
    assert.equal(excerpt([list]).length, 301);
  });
});
