import assert from 'node:assert/strict';
import type { Json } from '../../flow/definition.ts';
import { findDifference } from '../../flow/find-difference.ts';

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
  ];
  for (const [expected, actual, path] of different)
    it(`finds ${path || 'the root'} between ${JSON.stringify(expected)} and ${JSON.stringify(actual)}`, () =>
      assert.equal(findDifference(expected, actual)?.path, path));
});
