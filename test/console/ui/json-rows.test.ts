import assert from 'node:assert/strict';
import { findInJson, jsonRows, openDepthOf, pathsAround } from '../../../console/ui/json/json-rows.ts';

describe('the rows of a JSON value', () => {
  const value = { a: [1, { 'b/c': 'deep' }], text: 'x\ny', none: null, empty: {} };

  it('are one for each visible value, in order', () => {
    const paths = jsonRows(value, new Set(), 64).map(({ path }) => path);
    assert.deepEqual(paths, ['', '/a', '/a/0', '/a/1', '/a/1/b~1c', '/text', '/none', '/empty']);
    assert.deepEqual(
      jsonRows(value, new Set(), 1).map(({ path }) => path),
      ['', '/a', '/text', '/none', '/empty'],
    );
  });

  it('show JSON inside a text as a tree, unless its numbers would change', () => {
    const rows = jsonRows(
      { a: '{"b": [1]}', id: '[12345678901234567890]', plain: '[not JSON' },
      new Set(),
      64,
    );
    assert.deepEqual(
      rows.map(({ path, kind, isText = false }) => [path, kind, isText]),
      [
        ['', 'object', false],
        ['/a', 'object', true],
        ['/a/b', 'array', false],
        ['/a/b/0', 'number', false],
        ['/id', 'string', false],
        ['/plain', 'string', false],
      ],
    );
  });

  it('open and close with the toggled paths', () => {
    assert.equal(jsonRows(value, new Set(['']), 64).length, 1);
    const rows = jsonRows(value, new Set(['/a']), 1);
    assert.deepEqual(
      rows.map(({ path }) => path),
      ['', '/a', '/a/0', '/a/1', '/text', '/none', '/empty'],
    );
  });

  it('are one for a text, a number, null and an absent value', () => {
    for (const [value, kind] of [
      ['text', 'string'],
      [1, 'number'],
      [false, 'boolean'],
      [null, 'null'],
    ] as const)
      assert.deepEqual(
        jsonRows(value, new Set(), 1).map(({ kind }) => kind),
        [kind],
      );
  });

  it('open a small value completely and a large one at its first level', () => {
    assert.equal(jsonRows(value, new Set(), openDepthOf(value)).length, 8);
    const large = { list: Array.from({ length: 10_000 }, (_, index) => ({ index })) };
    assert.equal(jsonRows(large, new Set(), openDepthOf(large)).length, 2);
  });

  it('are found by key and text in any case, with their ancestors', () => {
    assert.deepEqual(findInJson(value, 'DEEP'), ['/a/1/b~1c']);
    assert.deepEqual(findInJson(value, 'b/'), ['/a/1/b~1c']);
    assert.deepEqual(findInJson(value, ''), []);
    assert.deepEqual([...pathsAround(['/a/1/b~1c'])].sort(), ['', '/a', '/a/1']);
    assert.deepEqual([...pathsAround([''])], []);
  });

  it('are found up to a maximum', () => {
    assert.equal(
      findInJson(
        Array.from({ length: 50 }, () => 'same'),
        'same',
        7,
      ).length,
      7,
    );
  });
});
