import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { createDefinitionTurns } from '../../../platform/large-values/definition-turns.ts';
import { createFairQueue } from '../../../platform/limits/fair-queue.ts';
import { SMALL_BYTES } from '../../../platform/limits/gates.ts';

const SOON = new AbortController().signal;

describe('turns at definitions', () => {
  /** Enters for these owners at once; tells who has a turn, and ends the turns of one. */
  async function enter(owners: string[], bytes: number) {
    const turns = createDefinitionTurns(2, createFairQueue({ capacity: 2, reserved: 1 }));
    const entered: { owner: string; end(): void }[] = [];
    const measured: string[] = [];
    const waiting = owners.map(async (owner) => {
      const measure = async () => {
        measured.push(owner);
        return bytes;
      };
      entered.push({ owner, end: await turns.enter(owner, measure, SOON) });
    });
    for (let turn = 0; turn < 10; turn++) await setImmediate();
    return { turns, entered, measured, all: Promise.all(waiting) };
  }
  const ownersOf = (entered: { owner: string }[]) => entered.map(({ owner }) => owner).join('');

  it('are as many for one owner, whose other definitions are not measured meanwhile', async () => {
    const { entered, measured, all } = await enter(['a', 'a', 'a', 'b'], SMALL_BYTES - 1);
    assert.deepEqual([ownersOf(entered), measured.length], ['aab', 3]);
    entered[0]?.end();
    await all;
    assert.equal(ownersOf(entered), 'aaba');
  });

  it('are bounded for the large definitions of all owners together', async () => {
    const { entered, all } = await enter(['a', 'b', 'c', 'd', 'e'], SMALL_BYTES);
    assert.equal(ownersOf(entered), 'abc');
    for (let left = 0; left < 5; left++) {
      entered[left]?.end();
      await setImmediate();
    }
    await all;
    assert.equal(ownersOf(entered), 'abcde');
  });

  it('are many for small definitions of different owners', async () => {
    const { entered, all } = await enter(['a', 'b', 'c', 'd', 'e'], SMALL_BYTES - 1);
    await all;
    assert.equal(ownersOf(entered), 'abcde');
  });

  it('are left by who waits for a large one no longer, or could not measure it', async () => {
    const { turns, entered } = await enter(['a', 'b', 'c'], SMALL_BYTES);
    const caller = new AbortController();
    const large = async () => SMALL_BYTES;
    const left = Promise.allSettled([1, 2].map(() => turns.enter('d', large, caller.signal)));
    await setImmediate();
    caller.abort(new Error('gone'));
    for (const { status } of await left) assert.equal(status, 'rejected');
    const unmeasured = () => Promise.reject(new Error('no database'));
    for (let times = 0; times < 2; times++)
      await assert.rejects(turns.enter('d', unmeasured, SOON), /no database/);
    for (const { end } of entered) end();
    await turns.enter('d', large, SOON);
    await turns.enter('d', large, SOON);
  });
});
