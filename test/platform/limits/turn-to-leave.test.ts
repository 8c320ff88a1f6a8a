import assert from 'node:assert/strict';
import { takeTurnToLeave } from '../../../platform/limits/turn-to-leave.ts';
import { createTurns } from '../../../platform/limits/turns.ts';

describe('a turn to leave', () => {
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const start = async () => {
    const turns = createTurns({ places: 1, reserve: 0 });
    const turn = await takeTurnToLeave(() => turns.wait('a'));
    return { turns, turn };
  };

  it('is had by others while its holder waits, and again by its holder before that goes on', async () => {
    const { turns, turn } = await start();
    const slow = Promise.withResolvers<string>();
    const order: string[] = [];
    const waiting = turn.leave(() => slow.promise).then((value) => order.push(value));
    const end = turns.takeNow('b');
    assert(end);
    slow.resolve('back');
    await settle();
    order.push('b ends');
    end();
    await waiting;
    assert.deepEqual(order, ['b ends', 'back']);
    assert.equal(turns.countUnderWay(), 1);
    turn.end();
    assert.equal(turns.countUnderWay(), 0);
  });

  it('is not had again while the holder waits for something else, and never twice', async () => {
    const { turns, turn } = await start();
    const slow = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const waiting = slow.map(({ promise }) => turn.leave(() => promise));
    slow[0]?.resolve();
    await waiting[0];
    assert.equal(turns.isBusy('b'), false);
    const end = turns.takeNow('b');
    slow[1]?.resolve();
    await settle();
    const third = turn.leave(async () => undefined);
    await settle();
    assert.equal(turns.countWaiting(), 1);
    end?.();
    await Promise.all([waiting[1], third]);
    assert.deepEqual([turns.countUnderWay(), turns.countWaiting()], [1, 0]);
  });

  it('is left again by a holder who waits anew before the next turn has come', async () => {
    const { turns, turn } = await start();
    const waiting = turn.leave(async () => undefined);
    const end = turns.takeNow('b');
    await settle();
    const slow = Promise.withResolvers<void>();
    const anew = turn.leave(() => slow.promise);
    end?.();
    await waiting;
    assert.equal(turns.countUnderWay(), 0);
    slow.resolve();
    await anew;
    assert.equal(turns.countUnderWay(), 1);
  });

  it('does not come again once it has ended, or after a wait that failed', async () => {
    const { turns, turn } = await start();
    await assert.rejects(
      turn.leave(() => Promise.reject(new Error('no'))),
      { message: 'no' },
    );
    assert.equal(turns.countUnderWay(), 0);
    const slow = Promise.withResolvers<void>();
    const waiting = turn.leave(() => slow.promise);
    turn.end();
    slow.resolve();
    await waiting;
    await turn.leave(async () => undefined);
    assert.equal(turns.countUnderWay(), 0);
  });
});
