import assert from 'node:assert/strict';
import { createSparePlaces, measureUse } from '../../../platform/limits/spare-places.ts';
import { createTurns } from '../../../platform/limits/turns.ts';
import { waitUntil } from '../../wait-until.ts';

describe('spare places', () => {
  it('come one by one while half of the time of the processors is unused, up to their bound', async () => {
    const spare = createSparePlaces(3, async () => 0.4);
    const growths: number[] = [];
    let looks = 0;
    const waitForTwentyLooks = () => {
      looks += 1;
      return looks < 20;
    };
    spare.look(waitForTwentyLooks, () => growths.push(spare.count()));
    await waitUntil(() => looks >= 20);
    assert.deepEqual(growths, [1, 2, 3]);
  });

  it('go one by one when nobody waits any more, and then nobody looks', async () => {
    const counts: number[] = [];
    let waits = true;
    const spare = createSparePlaces(3, async () => {
      counts.push(spare.count());
      if (counts.length > 3) waits = false;
      return 0;
    });
    spare.look(
      () => waits,
      () => undefined,
    );
    await waitUntil(() => !waits && spare.count() === 0);
    assert.deepEqual(counts, [0, 1, 2, 3, 2, 1]);
  });

  it('stay while the processors are neither idle nor busy, and are halved while they are busy', async () => {
    const uses = [0, 0, 0, 0, 0.6, 0.9, 0.9, 0.9];
    const counts: number[] = [];
    const spare = createSparePlaces(8, async () => {
      counts.push(spare.count());
      return uses[counts.length - 1] ?? 0;
    });
    spare.look(
      () => counts.length < uses.length,
      () => undefined,
    );
    await waitUntil(() => counts.length === uses.length && spare.count() === 0);
    assert.deepEqual(counts, [0, 1, 2, 3, 4, 4, 2, 1]);
  });

  it('are looked for when somebody has to wait, who gets the one that is found', async () => {
    let looks = 0;
    const seen = Promise.withResolvers<number>();
    const spare = createSparePlaces(1, () => {
      looks += 1;
      return seen.promise;
    });
    const turns = createTurns({ places: 1, reserve: 0, spare });
    await turns.wait('a');
    assert.equal(looks, 0);
    const second = turns.wait('a');
    assert.equal(looks, 1);
    seen.resolve(0);
    await second;
    assert.equal(turns.countUnderWay('a'), 2);
  });

  it('are of all organizations, and half of them of one while others are there', async () => {
    const turns = createTurns({
      places: 4,
      reserve: 0,
      shared: 2,
      sharedEach: 1,
      spare: { count: () => 4, look: () => undefined },
    });
    assert(turns.takeNow('b'));
    for (let turn = 0; turn < 3; turn += 1) assert(turns.takeNow('a'));
    assert.equal(turns.takeNow('a'), undefined);
    assert(turns.takeNow('b'));
    assert(turns.takeNow('b'));
    assert.equal(turns.takeNow('b'), undefined);
  });

  it('find the processors used while the event loop has no rest', async () => {
    let used: number | undefined;
    const measured = measureUse().then((part) => {
      used = part;
    });
    while (used === undefined) await new Promise(setImmediate);
    await measured;
    assert(used > 0.65 && used <= 1, `${used}`);
  });
});
