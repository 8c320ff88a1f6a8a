import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { createByteBudget, SMALL_BYTES } from '../../../platform/limits/byte-budget.ts';

const MB = 1024 * 1024;

describe('a byte budget', () => {
  /** Whether it is granted without anything being given back. */
  async function isGranted(taking: Promise<unknown>): Promise<boolean> {
    let granted = false;
    void taking.then(() => {
      granted = true;
    });
    await setImmediate();
    await setImmediate();
    return granted;
  }

  it('grants one owner its share, and another the rest at once', async () => {
    const budget = createByteBudget(8 * MB, 4 * MB);
    await budget.take('a', 2 * MB);
    const second = await budget.take('a', 2 * MB);
    const third = budget.take('a', MB);
    assert.equal(await isGranted(third), false);
    await budget.take('b', 4 * MB);
    second();
    await third;
  });

  it('takes turns between owners, however much one has waiting', async () => {
    const budget = createByteBudget(8 * MB, 4 * MB);
    const first = await budget.take('a', 4 * MB);
    const other = await budget.take('z', 4 * MB);
    const order: string[] = [];
    const queue = (owner: string) =>
      budget.take(owner, 4 * MB).then((release) => {
        order.push(owner);
        return release;
      });
    const waiting = [queue('b'), queue('b'), queue('b'), queue('c'), queue('c')];
    first();
    other();
    for (const taking of [waiting[0], waiting[3], waiting[1], waiting[4], waiting[2]]) (await taking)?.();
    assert.deepEqual(order, ['b', 'c', 'b', 'c', 'b']);
  });

  it('does not let small values overtake a large one for ever', async () => {
    const budget = createByteBudget(8 * MB, 4 * MB);
    const a = await budget.take('a', 4 * MB);
    const b = await budget.take('b', 3 * MB);
    const large = budget.take('c', 4 * MB);
    const small = budget.take('d', MB);
    assert.equal(await isGranted(small), false);
    a();
    await large;
    b();
    await small;
  });

  it('has a reserve for owners that hold none, however long others hold theirs', async () => {
    const budget = createByteBudget(8 * MB, 4 * MB, 4 * MB);
    await budget.take('a', 4 * MB);
    const release = await budget.take('b', 3 * MB);
    const large = budget.take('b', MB);
    const releases = [await budget.take('c', 2 * MB), await budget.take('d', MB)];
    assert.equal(budget.takeNow('c', 2 * MB), undefined);
    const last = budget.take('e', 2 * MB);
    assert.equal(await isGranted(last), false);
    for (const release of releases) release();
    await last;
    release();
    await large;
  });

  it('keeps what is left of the total for an owner that waits for it, whoever uses the reserve', async () => {
    const budget = createByteBudget(8 * MB, 4 * MB, 2 * MB);
    await budget.take('a', 2 * MB);
    const release = await budget.take('b', 4 * MB);
    await budget.take('c', MB);
    const waiting = budget.take('a', 2 * MB);
    assert.equal(await isGranted(waiting), false);
    assert.equal(budget.takeNow('d', 3 * MB), undefined);
    await budget.take('d', 2 * MB);
    release();
    await waiting;
  });

  it('counts a value larger than a share as one share, so that it gets its turn', async () => {
    const budget = createByteBudget(8 * MB, 4 * MB);
    const release = await budget.take('a', 100 * MB);
    assert.equal(await isGranted(budget.take('b', 4 * MB)), true);
    release();
  });

  it('does not count small values', async () => {
    const budget = createByteBudget(2 * SMALL_BYTES, SMALL_BYTES);
    for (let index = 0; index < 10; index += 1) await budget.take('a', SMALL_BYTES - 1);
  });

  it('says at once that a value would have to wait, and keeps no place for it', async () => {
    const budget = createByteBudget(8 * MB, 4 * MB);
    const release = budget.takeNow('a', 4 * MB);
    assert(release);
    assert.equal(budget.takeNow('a', MB), undefined);
    assert(budget.takeNow('a', SMALL_BYTES - 1));
    assert(budget.takeNow('b', 4 * MB));
    const waiting = budget.take('a', 3 * MB);
    release();
    await waiting;
    assert(budget.takeNow('a', MB));
    assert.equal(budget.takeNow('c', MB), undefined);
  });

  it('counts bytes that are given back twice once', async () => {
    const budget = createByteBudget(4 * MB, 2 * MB);
    const release = await budget.take('a', 2 * MB);
    release();
    release();
    await budget.take('a', 2 * MB);
    assert.equal(await isGranted(budget.take('a', 2 * MB)), false);
  });

  it('counts what is held and what waits, of all owners', async () => {
    const budget = createByteBudget(4 * MB, 2 * MB);
    const release = await budget.take('a', 2 * MB);
    await budget.take('b', MB);
    const waiting = [budget.take('a', MB), budget.take('c', 2 * MB)];
    assert.deepEqual([budget.countHeld(), budget.countWaiting()], [3 * MB, 2]);
    release();
    await Promise.all(waiting);
    assert.deepEqual([budget.countHeld(), budget.countWaiting()], [4 * MB, 0]);
  });

  it('is exhausted while an owner waits whose share has room, not while one waits for its own bytes', async () => {
    const budget = createByteBudget(4 * MB, 2 * MB, MB);
    await budget.take('a', 2 * MB);
    const own = budget.take('a', MB);
    assert.deepEqual([budget.countWaiting(), budget.isExhausted()], [1, false]);
    const release = await budget.take('b', 2 * MB);
    await budget.take('c', MB);
    const waiting = budget.take('d', MB);
    assert.equal(budget.isExhausted(), true);
    release();
    await waiting;
    assert.deepEqual([budget.countWaiting(), budget.isExhausted()], [1, false]);
    void own;
  });

  it('forgets a waiter that gives up, and lets the next one in', async () => {
    const budget = createByteBudget(4 * MB, 2 * MB);
    await budget.take('a', 2 * MB);
    const held = await budget.take('b', MB);
    const giving = new AbortController();
    const large = budget.take('c', 2 * MB, giving.signal);
    const next = budget.take('d', MB);
    assert.equal(await isGranted(next), false);
    giving.abort(new Error('gone'));
    await assert.rejects(large, /gone/);
    await next;
    held();
    await assert.rejects(budget.take('c', 2 * MB, giving.signal), /gone/);
  });
});
