import assert from 'node:assert/strict';
import { createValueResolver } from '../../activities/values/value-resolver.ts';
import type { Db } from '../../db/connect.ts';

/** A database that says when it is asked. */
const ASKED = new Error('The database was asked.');
const db = new Proxy({} as Db, {
  get() {
    throw ASKED;
  },
});

describe('the outputs that a process keeps for the next blocks', () => {
  it('are at most 10,000, however small: those that were used last', async () => {
    const input = { message: '', parameters: {}, block_overrides: {} };
    const { keep, resolve } = createValueResolver(db, async () => input);
    for (let item = 0; item <= 10_000; item += 1) keep('call', { ref: `loop#${item}`, bytes: 1 }, '7');
    assert.equal(await resolve('call', { ref: 'loop#10000', bytes: 1 }), 7);
    assert.equal(await resolve('call', { ref: 'loop#1', bytes: 1 }), 7);
    await assert.rejects(resolve('call', { ref: 'loop#0', bytes: 1 }), ASKED);
  });
});
