import assert from 'node:assert/strict';
import type { Json } from '../../flow/definition.ts';
import { findDifference } from '../../flow/json.ts';

describe('findDifference', () => {
  const equal: [Json, Json][] = [
    [null, null],
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    [[], []],
  ];
  for (const [expected, actual] of equal)
    it(`finds none between ${JSON.stringify(expected)} and ${JSON.stringify(actual)}`, () =>
      assert.equal(findDifference(expected, actual), undefined));

  const different: [Json, Json, string][] = [
    [1, '1', ''],
    [null, {}, ''],
    [[], {}, ''],
    [{ a: { 'b/c~d': [1, 2] } }, { a: { 'b/c~d': [1, 3] } }, '/a/b~1c~0d/1'],
    [{ a: 1 }, { a: 1, b: null }, '/b'],
    [{ a: 1, b: null }, { a: 1 }, '/b'],
    [[1, 2], [1], '/1'],
    [{}, { toString: 1 }, '/toString'],
    [{ b: 1, a: 1 }, { c: 1, a: 2, b: 2 }, '/b'],
    [{ a: 1 }, { c: 1, b: 1, a: 1 }, '/c'],
    [[[0], [1, 2]], [[0], [1, 3], 4], '/1/1'],
  ];
  for (const [expected, actual, path] of different)
    it(`finds ${path || 'the root'} between ${JSON.stringify(expected)} and ${JSON.stringify(actual)}`, () =>
      assert.equal(findDifference(expected, actual)?.path, path));

  it('looks at nothing after the first difference', () => {
    const looks: PropertyKey[] = [];
    const actual = new Proxy([0, 0, 0], {
      ownKeys: (target) => {
        looks.push('all indices');
        return Reflect.ownKeys(target);
      },
      getOwnPropertyDescriptor: (target, key) => {
        looks.push(key);
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
    });
    assert.equal(findDifference([0, 1], actual)?.path, '/1');
    assert.deepEqual(looks, ['0', '1']);
  });
});
