import assert from 'node:assert/strict';
import { followPointer } from '../../flow/json.ts';

describe('a JSON Pointer', () => {
  const json = { 'a/b': { '~': [{ c: null }, false] } };
  for (const [pointer, value] of [
    ['', json],
    ['/a~1b/~0/1', false],
    ['/a~1b/~0/0/c', null],
  ] as const)
    it(`leads to the value at ${JSON.stringify(pointer)}`, () =>
      assert.deepEqual(followPointer(json, pointer), value));

  for (const pointer of ['/a', '/a~1b/~0/2', '/a~1b/~0/1/c', '/constructor', '/__proto__'])
    it(`leads to nothing at ${pointer}`, () => assert.equal(followPointer(json, pointer), undefined));
});
