import assert from 'node:assert/strict';
import { createTurnsByKind } from '../../../platform/limits/turns-by-kind.ts';

const PLACES = { places: 8, reserve: 4, few: 2, waiting: 4 };

describe('turns by kind', () => {
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  /** Takes turns until none is there. */
  function fill(turns: ReturnType<typeof createTurnsByKind>, kind: string, owner: string) {
    const ends = [];
    for (let end = turns.takeNow(kind, owner); end; end = turns.takeNow(kind, owner)) ends.push(end);
    return ends;
  }

  it('give one kind three quarters of the places and of the reserve; others begin, of the same owner and of others', () => {
    const turns = createTurnsByKind(PLACES, ['silent', 'sound']);
    assert.equal(fill(turns, 'silent', 'a').length, 6);
    for (const owner of ['b', 'c', 'd', 'e']) fill(turns, 'silent', owner);
    assert.equal(turns.countUnderWay(), 9);
    assert.equal(turns.isBusy('silent', 'f'), true);
    assert.equal(turns.isBusy('sound', 'f'), false);
    assert(turns.takeNow('sound', 'f'));
    assert(createTurnsByKind(PLACES, ['silent', 'sound']).takeNow('sound', 'a'));
  });

  it('keep no place from a kind for those that wait at another', async () => {
    const turns = createTurnsByKind(PLACES, ['silent', 'sound']);
    const ends = fill(turns, 'silent', 'a');
    const order: string[] = [];
    const waiting = Array.from({ length: 20 }, () =>
      turns.wait('silent', 'a').then((end) => {
        order.push('silent');
        return end;
      }),
    );
    await turns.wait('sound', 'a');
    await turns.wait('sound', 'b');
    order.push('sound');
    assert.equal(turns.countWaiting(), 20);
    ends[0]?.();
    await waiting[0];
    assert.deepEqual(order, ['sound', 'silent']);
  });

  it('are taken in turn between owners within a kind', async () => {
    const turns = createTurnsByKind({ places: 2, reserve: 0, few: 1, waiting: 4 }, ['one', 'two']);
    const [end] = fill(turns, 'one', 'a');
    const order: string[] = [];
    const others = ['a', 'a', 'b'].map(async (owner) => {
      const end = await turns.wait('one', owner);
      order.push(owner);
      await settle();
      end();
    });
    end?.();
    await Promise.all(others);
    assert.deepEqual(order, ['a', 'b', 'a']);
  });

  it('leave the place of their kind when they are given up while all places are taken', async () => {
    const turns = createTurnsByKind({ places: 4, reserve: 0, few: 1, waiting: 4 }, ['one', 'two']);
    const ends = [...fill(turns, 'one', 'a'), ...fill(turns, 'two', 'a')];
    assert.equal(ends.length, 4);
    const gone = new AbortController();
    const waiting = turns.wait('two', 'a', gone.signal);
    await settle();
    gone.abort(new Error('gone'));
    await assert.rejects(waiting, { message: 'gone' });
    for (const end of ends) end();
    assert.equal(turns.countUnderWay(), 0);
    assert.equal(fill(turns, 'two', 'a').length, 3);
  });

  it('have all places where there is one kind; those that are not named have three quarters together else', () => {
    assert.equal(fill(createTurnsByKind(PLACES, ['only']), 'only', 'a').length, 8);
    assert.equal(fill(createTurnsByKind(PLACES, []), 'other', 'a').length, 8);
    const turns = createTurnsByKind(PLACES, ['one', 'two']);
    assert.equal(fill(turns, 'other', 'a').length, 6);
    assert.equal(turns.takeNow('another', 'a'), undefined);
    assert(turns.takeNow('one', 'a'));
  });

  it('are crowded for an owner that has three quarters of those that may wait at one of several kinds', async () => {
    const turns = createTurnsByKind({ places: 4, reserve: 0, few: 1, waiting: 4 }, ['one', 'two']);
    fill(turns, 'one', 'a');
    for (const crowded of [false, false, false, true]) {
      assert.equal(turns.isCrowded('one', 'a'), crowded);
      void turns.wait('one', 'a');
    }
    assert.equal(turns.isCrowded('two', 'a'), false);
    assert.equal(turns.isCrowded('one', 'b'), false);
    const alone = createTurnsByKind({ places: 1, reserve: 0, few: 1, waiting: 4 }, ['only']);
    for (let waiting = 0; waiting <= 4; waiting += 1) void alone.wait('only', 'a');
    assert.equal(alone.isCrowded('only', 'a'), false);
  });

  it('reject who waits, at a kind or at all places, once they are closed', async () => {
    const turns = createTurnsByKind({ places: 4, reserve: 0, few: 1, waiting: 4 }, ['one', 'two']);
    fill(turns, 'one', 'a');
    fill(turns, 'two', 'a');
    const waiting = [turns.wait('one', 'a'), turns.wait('two', 'a')];
    await settle();
    turns.close(new Error('closed'));
    for (const turn of waiting) await assert.rejects(turn, { message: 'closed' });
  });
});
