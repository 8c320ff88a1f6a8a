import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/activity';
import { createSlots, inSlot, turnAwayFrom } from '../../../activities/attempts/in-slot.ts';
import { inActivity } from '../in-activity.ts';
import { simulateWaiting } from '../simulate-waiting.ts';

const JOBS = 'ACME';
const AWAITED = 'acme';
/** Slots that are each freed after ten seconds: 30 a second. */
const FREED_OFTEN = { places: 300, heldMs: 10_000 };
/** Slots that are each freed after an hour. */
const FREED_RARELY = { places: 300, heldMs: 3_600_000 };

describe('the slot of an activity', () => {
  const slots = createSlots({ places: 1, reserve: 2 });
  const begin = <T>(fairnessKey: string, work: () => Promise<T>, isLocal = false) =>
    inActivity({ info: { priority: { fairnessKey } } }, () => inSlot(slots, { isLocal }, work));

  it('is one of its organization’s share, and what is over goes back to the engine', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const [first, job] = [begin(AWAITED, () => promise), begin(JOBS, () => promise)];
    await assert.rejects(
      begin(JOBS, () => assert.fail('it began')),
      (error) =>
        error instanceof ApplicationFailure && !error.nonRetryable && Number(error.nextRetryDelay) > 0,
    );
    assert.equal(await begin('other', async () => 7), 7);
    assert.equal(await begin(AWAITED, async () => 8, true), 8, 'a local activity needs a slot');
    resolve(1);
    await Promise.all([first, job]);
    await assert.rejects(
      begin(AWAITED, () => Promise.reject(new Error('failed'))),
      /failed/,
    );
    assert.equal(await begin(AWAITED, async () => 9), 9);
  });
});

describe('attempts of blocks that wait for a slot', () => {
  it('are about three times as many as slots are freed, of which few stay free', () => {
    const { attempts, freed, idle } = simulateWaiting({ ...FREED_OFTEN, waiting: 1_000, keys: [JOBS] });
    assert(attempts > freed && attempts < 3.5 * freed, `${attempts} attempts for ${freed} slots`);
    assert(idle < 0.02, `${idle} of the slots were free`);
  });

  it('are as many where several organizations wait, which have equal shares of the slots', () => {
    const keys = [JOBS, AWAITED, 'OTHER'];
    const { attempts, freed, found } = simulateWaiting({ ...FREED_OFTEN, waiting: 1_000, keys });
    assert(attempts < 3.5 * freed, `${attempts} attempts for ${freed} slots`);
    for (const key of keys)
      assert((found.get(key) ?? 0) > freed / 6, `${key} found ${found.get(key)} of ${freed}`);
  });

  it('come at least once a minute, and one by one where slots are freed rarely', () => {
    for (const [waiting, most] of [
      [2_000, 2_000 / 45],
      [20, 1.5],
    ] as const) {
      const { attempts, longestMs } = simulateWaiting({ ...FREED_RARELY, waiting, keys: [JOBS] });
      assert(attempts <= most, `${attempts} attempts a second of ${waiting}`);
      assert(longestMs <= 60_000, `${longestMs} ms`);
    }
  });

  it('come every two seconds where a caller waits, unless many do', () => {
    for (const key of [AWAITED, '42']) {
      const { longestMs } = simulateWaiting({ ...FREED_RARELY, waiting: 18, keys: [key] });
      assert(longestMs <= 2_000, `${longestMs} ms for ${key}`);
    }
    const { attempts } = simulateWaiting({ ...FREED_RARELY, waiting: 2_000, keys: [AWAITED] });
    assert(attempts <= 2_000 / 45, `${attempts} a second`);
  });

  it('come as often as slots are freed, also where others free them who wait for none', () => {
    let now = 0;
    const slots = createSlots({ places: 300, reserve: 0 }, () => now);
    slots.nextInMs(JOBS);
    // Past the time in which it is not known how fast slots are freed.
    for (; now < 15_000; now += 1_000) slots.nextInMs(JOBS);
    const rare = Math.max(...Array.from({ length: 20 }, () => slots.nextInMs(JOBS)));
    for (let freed = 0; freed < 300; freed += 1) {
      now += 20;
      slots.takeNow('other')?.();
    }
    const often = Math.max(...Array.from({ length: 20 }, () => slots.nextInMs(JOBS)));
    assert(rare > 10_000 && often < 2_000, `${rare} ms, and then ${often} ms`);
  });

  it('come no sooner for those that were turned away from their slots', async () => {
    let now = 0;
    const slots = createSlots({ places: 300, reserve: 0 }, () => now);
    const attempt = () =>
      inActivity({ info: { priority: { fairnessKey: JOBS } } }, () =>
        inSlot(slots, { isLocal: false }, async () => {
          throw turnAwayFrom(slots, 'Many wait.');
        }),
      ).catch(({ nextRetryDelay }: ApplicationFailure) => Number(nextRetryDelay));
    await attempt();
    // Past the time in which it is not known how fast slots are freed.
    for (; now < 15_000; now += 100) await attempt();
    const delays: number[] = [];
    for (let n = 0; n < 20; n += 1) delays.push(await attempt());
    assert(Math.max(...delays) > 10_000, `${delays}`);
  });

  it('come as soon where a caller waits, beside twenty organizations of which only jobs wait', () => {
    let now = 0;
    const slots = createSlots({ places: 300, reserve: 0 }, () => now);
    let longest = 0;
    for (; now < 20_000; now += 1_000) {
      for (let other = 0; other < 20; other += 1) slots.nextInMs(`OTHER ${other}`);
      longest = slots.nextInMs(AWAITED);
    }
    assert(longest <= 2_000, `${longest} ms`);
  });

  it('fill the slots that 2,000 blocks at once have left waiting, also before it is known how fast slots are freed', () => {
    const { attempts, idle } = simulateWaiting({
      places: 300,
      heldMs: 6_000,
      waiting: 2_000,
      keys: [JOBS],
      fromSecond: 0,
      seconds: 30,
    });
    assert(attempts < 300, `${attempts} a second`);
    assert(idle < 0.15, `${idle} of the slots were free`);
  });
});
