import assert from 'node:assert/strict';
import { createSharedCache } from '../../../platform/limits/shared-cache.ts';

describe('a shared cache', () => {
  it('takes room from the owner who holds the most, and keeps what others hold', () => {
    const cache = createSharedCache<number>(10);
    cache.set('small', 's1', 1, 2);
    cache.set('small', 's2', 2, 2);
    for (let key = 0; key < 100; key++) cache.set('large', `l${key}`, key, 2);
    assert.deepEqual([cache.get('s1'), cache.get('s2')], [1, 2]);
    assert.deepEqual(
      [cache.get('l96'), cache.get('l97'), cache.get('l98'), cache.get('l99')],
      [undefined, 97, 98, 99],
    );
  });

  it('gives up what its owner used the longest time ago', () => {
    const cache = createSharedCache<number>(3);
    for (const key of ['a', 'b', 'c']) cache.set('one', key, 1, 1);
    cache.get('a');
    cache.set('one', 'd', 1, 1);
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((key) => cache.get(key)),
      [1, undefined, 1, 1],
    );
  });

  it('replaces a value, and does not keep one that is larger than the cache', () => {
    const cache = createSharedCache<number>(3);
    cache.set('one', 'a', 1, 3);
    cache.set('one', 'a', 2, 2);
    cache.set('one', 'b', 3, 1);
    cache.set('one', 'c', 4, 4);
    assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], [2, 3, undefined]);
  });

  it('gives all its room to an owner who is alone, and takes it back when others come', () => {
    const cache = createSharedCache<number>(4);
    for (const key of ['a', 'b', 'c', 'd']) cache.set('one', key, 1, 1);
    for (const key of ['x', 'y']) cache.set('two', key, 2, 1);
    assert.deepEqual(
      ['a', 'b', 'c', 'd', 'x', 'y'].map((key) => cache.get(key)),
      [undefined, undefined, 1, 1, 2, 2],
    );
  });
});
