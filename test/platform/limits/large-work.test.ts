import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import {
  createLargeWork,
  LARGE_BYTES,
  LARGE_VALUES,
  restAfter,
  workOf,
} from '../../../platform/limits/large-work.ts';
import { createPresence } from '../../../platform/limits/presence.ts';
import { holdTimers } from './hold-timers.ts';

describe('large work', () => {
  it('is done one piece at a time, in turn between owners; small work does not wait', async () => {
    const { take } = createLargeWork(createPresence());
    const order: string[] = [];
    const piece = async (owner: string) => {
      const end = await take(owner, LARGE_BYTES);
      order.push(`${owner} begins`);
      await sleep(1);
      order.push(`${owner} ends`);
      end();
    };
    const pieces = ['a', 'a', 'b'].map(piece);
    await take('c', LARGE_BYTES - 1);
    await Promise.all(pieces);
    assert.deepEqual(order, ['a begins', 'a ends', 'a begins', 'a ends', 'b begins', 'b ends']);
  });

  it('rests after a piece for as long as that took', async () => {
    const timers = holdTimers();
    try {
      const { take } = createLargeWork(createPresence());
      const end = await take('a', LARGE_BYTES);
      timers.pass(30);
      end();
      const rest = timers.last();
      assert.equal(rest?.ms, 30);
      let taken = false;
      const next = take('b', LARGE_BYTES).then(() => {
        taken = true;
      });
      await setImmediate();
      assert.equal(taken, false);
      rest.end();
      await next;
    } finally {
      mock.restoreAll();
    }
  });

  it('rests three times as long while others are present, longer by 250 ms at most', () => {
    const presence = createPresence();
    presence.note('a');
    assert.equal(restAfter(20, 'a', presence), 20);
    assert.equal(restAfter(20, 'b', presence), 60);
    assert.equal(restAfter(1_000, 'b', presence), 1_250);
  });

  it('is JSON of many bytes, many values or many different keys', () => {
    const cases: [bytes: number, values: number, keys: number, isLarge: boolean][] = [
      [LARGE_BYTES - 1, LARGE_VALUES - 1, 0, false],
      [LARGE_BYTES, 1, 0, true],
      [1, LARGE_VALUES, 0, true],
      [1, 0, LARGE_VALUES / 5, true],
    ];
    for (const [bytes, values, keys, isLarge] of cases)
      assert.equal(workOf(bytes, { values, keys }) >= LARGE_BYTES, isLarge, `${bytes} ${values} ${keys}`);
  });

  it('gives the turn to others when a piece waits for too long', async () => {
    const { take } = createLargeWork(createPresence());
    await take('a', LARGE_BYTES);
    await take('b', LARGE_BYTES);
  });

  it('lets what has begun end before its owner begins another', async () => {
    const { take } = createLargeWork(createPresence());
    const order: string[] = [];
    const body = async (name: string) => {
      const end = await take('a', LARGE_BYTES, { patient: true });
      order.push(`parse ${name}`);
      end();
      const endStoring = await take('a', LARGE_BYTES);
      order.push(`store ${name}`);
      endStoring();
    };
    await Promise.all(['1', '2', '3'].map(body));
    assert.deepEqual(order, ['parse 1', 'store 1', 'parse 2', 'store 2', 'parse 3', 'store 3']);
  });

  it('is not begun now where it would have to wait', async () => {
    const timers = holdTimers();
    try {
      const { takeNow } = createLargeWork(createPresence());
      const end = takeNow('a', LARGE_BYTES);
      assert.ok(takeNow('b', LARGE_BYTES - 1));
      assert.equal(takeNow('b', LARGE_BYTES), undefined);
      end?.();
      assert.equal(takeNow('b', LARGE_BYTES), undefined);
      timers.last()?.end();
      assert.ok(takeNow('b', LARGE_BYTES));
    } finally {
      mock.restoreAll();
    }
  });

  it('forgets who no longer waits', async () => {
    const { take } = createLargeWork(createPresence());
    const end = await take('a', LARGE_BYTES);
    const gone = new AbortController();
    const waiting = take('b', LARGE_BYTES, { signal: gone.signal });
    gone.abort(new Error('gone'));
    await assert.rejects(waiting, { message: 'gone' });
    end();
    await take('c', LARGE_BYTES);
  });
});
