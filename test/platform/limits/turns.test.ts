import assert from 'node:assert/strict';
import { createTurns, type EndTurn } from '../../../platform/limits/turns.ts';

describe('turns', () => {
  /** Waits for a turn and notes when it comes. */
  const note = (turns: ReturnType<typeof createTurns>, organization: string, order: string[]) =>
    turns.wait(organization).then((end) => {
      order.push(organization);
      return end;
    });
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  it('gives one organization all places but those in reserve', async () => {
    const turns = createTurns({ places: 2, reserve: 1 });
    await turns.wait('a');
    assert.equal(turns.isBusy('a'), false);
    await turns.wait('a');
    assert.equal(turns.isBusy('a'), true);
    assert.equal(turns.isBusy('b'), false);
    await turns.wait('b');
    assert.equal(turns.isBusy('b'), true);
    assert.equal(turns.isBusy('c'), true);
  });

  it('lets an organization use the reserve while it has few turns, and gives one of them only at once', async () => {
    const turns = createTurns({ places: 3, reserve: 3, few: 2 });
    for (let turn = 0; turn < 3; turn += 1) assert(turns.takeNow('a'));
    assert.equal(turns.takeNow('a'), undefined);
    const end = turns.takeNow('b');
    assert(turns.takeNow('b'));
    assert.equal(turns.takeNow('b'), undefined);
    assert(turns.takeNow('c'));
    assert.equal(turns.takeNow('d'), undefined);
    end?.();
    assert(turns.takeNow('d'));
  });

  it('serves the organization with the fewest turns first, and equal ones in turn', async () => {
    const turns = createTurns({ places: 2, reserve: 0 });
    const first = [await turns.wait('a'), await turns.wait('a')];
    const order: string[] = [];
    const ends = ['a', 'a', 'b', 'b', 'c'].map((organization) => note(turns, organization, order));
    (first[0] as EndTurn)();
    await settle();
    assert.deepEqual(order, ['b']);
    (first[1] as EndTurn)();
    await settle();
    assert.deepEqual(order, ['b', 'a']);
    ((await ends[2]) as EndTurn)();
    await settle();
    assert.deepEqual(order, ['b', 'a', 'c']);
    ((await ends[4]) as EndTurn)();
    await settle();
    assert.deepEqual(order, ['b', 'a', 'c', 'b']);
  });

  it('gives an organization all places while it is alone; while others are present, all share fewer', async () => {
    let now = 0;
    const turns = createTurns({ places: 4, reserve: 1, shared: 2, now: () => now });
    const ends = [];
    for (let turn = 0; turn < 4; turn += 1) ends.push(await turns.wait('a'));
    (await turns.wait('b'))();
    for (const end of ends) end();
    ends.push(await turns.wait('a'), await turns.wait('b'));
    assert.equal(turns.isBusy('a'), true);
    assert.equal(turns.isBusy('b'), true);
    for (const end of ends) end();
    now = 10_000;
    await turns.wait('a');
    await turns.wait('a');
    assert.equal(turns.isBusy('a'), false);
  });

  it('counts the end of a turn once', async () => {
    const turns = createTurns({ places: 1, reserve: 0 });
    const end = await turns.wait('a');
    end();
    end();
    await turns.wait('b');
    assert.equal(turns.isBusy('a'), true);
  });

  it('waits briefly, and returns nothing when the turn does not come', async () => {
    const turns = createTurns({ places: 1, reserve: 0 });
    const end = await turns.wait('a');
    assert.equal(await turns.waitBriefly('b'), undefined);
    const soon = turns.waitBriefly('b');
    end();
    ((await soon) as EndTurn)();
    await turns.wait('a');
    for (let waiting = 0; waiting < 64; waiting += 1) void turns.wait('b');
    let answered = false;
    void turns.waitBriefly('b').then(() => {
      answered = true;
    });
    await settle();
    assert(answered, 'it waited behind many');
  });

  it('forgets waiters that give up', async () => {
    const turns = createTurns({ places: 1, reserve: 0 });
    const end = await turns.wait('a');
    const abort = new AbortController();
    const left = assert.rejects(turns.wait('b', abort.signal), /gone/);
    abort.abort(new Error('gone'));
    await left;
    const next = turns.wait('c');
    end();
    await next;
  });

  it('rejects all waiters, present and future, when they are closed', async () => {
    const turns = createTurns({ places: 1, reserve: 0 });
    const end = await turns.wait('a');
    const waiting = assert.rejects(turns.wait('b'), /ending/);
    turns.close(new Error('ending'));
    await waiting;
    await assert.rejects(turns.wait('b'), /ending/);
    end();
    await turns.wait('b');
  });
});
