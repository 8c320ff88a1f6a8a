import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { mock } from 'node:test';
import { setImmediate as settle } from 'node:timers/promises';
import fc from 'fast-check';
import {
  createFairQueue,
  type FairQueue,
  type Permit,
  PermitRejected,
  type Priority,
} from '../../../platform/limits/fair-queue.ts';
import { propertyRuns } from '../../full-size.ts';

const EMPTY = { inFlight: 0, weight: 0, queued: 0, keys: 0, oldestWaitMs: 0 };
const FULL = { name: 'PermitRejected', reason: 'full', scope: 'key' };
const ALL_FULL = { ...FULL, scope: 'all' };

/** Acquires `count` permits that must be free now. */
function fill(queue: FairQueue, key: string, count: number): Permit[] {
  return Array.from({ length: count }, () => {
    const permit = queue.tryAcquire(key);
    assert(permit, `${key} found no permit`);
    return permit;
  });
}

/** Has requests note their names, in the order in which they are granted. */
function createNotes(queue: FairQueue) {
  const granted: string[] = [];
  const permits: Permit[] = [];
  return {
    granted,
    request(name: string, key: string, request?: Parameters<FairQueue['acquire']>[1]): Promise<void> {
      return queue.acquire(key, request).then((permit) => {
        granted.push(name);
        permits.push(permit);
      });
    },
    /** Releases the permit that was granted first, and waits for what that allows. */
    async releaseNext(): Promise<void> {
      permits.shift()?.release();
      await settle();
    },
  };
}

describe('a fair queue', () => {
  afterEach(() => mock.restoreAll());

  describe('between keys', () => {
    it('grants one key the whole capacity, and serves the requests of a key in their order', async () => {
      const queue = createFairQueue({ capacity: 2 });
      const { granted, request, releaseNext } = createNotes(queue);
      for (const name of ['1', '2', '3', '4']) void request(name, 'a');
      await settle();
      assert.deepEqual(granted, ['1', '2']);
      await releaseNext();
      assert.deepEqual(granted, ['1', '2', '3']);
      await releaseNext();
      assert.deepEqual(granted, ['1', '2', '3', '4']);
    });

    it('serves the key with the least in flight next, and equal keys in turn', async () => {
      const queue = createFairQueue({ capacity: 2 });
      const [first, second] = fill(queue, 'a', 2);
      const { granted, request, releaseNext } = createNotes(queue);
      for (const key of ['a', 'a', 'b', 'b', 'c']) void request(key, key);
      first?.release();
      await settle();
      assert.deepEqual(granted, ['b']);
      second?.release();
      await settle();
      assert.deepEqual(granted, ['b', 'c']);
      await releaseNext();
      assert.deepEqual(granted, ['b', 'c', 'a']);
      await releaseNext();
      assert.deepEqual(granted, ['b', 'c', 'a', 'b']);
    });

    it('prefers a key that had no permit lately to another with as much in flight', async () => {
      const queue = createFairQueue({ capacity: 3 });
      const permits = fill(queue, 'a', 2);
      fill(queue, 'b', 1);
      const { granted, request } = createNotes(queue);
      for (const key of ['c', 'c', 'b']) void request(key, key);
      for (const permit of permits) permit.release();
      await settle();
      assert.deepEqual(granted, ['c', 'b']);
    });

    it('delays the first request of a key by one release at most, however many others are queued', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 3_000 }),
          fc.integer({ min: 1, max: 9 }),
          async (n, capacity) => {
            const queue = createFairQueue({ capacity });
            const [permit] = fill(queue, 'hostile', capacity);
            for (let i = 0; i < n; i += 1) queue.acquire('hostile').catch(() => undefined);
            const { granted, request } = createNotes(queue);
            void request('other', 'other');
            permit?.release();
            await settle();
            assert.deepEqual(granted, ['other']);
          },
        ),
        { numRuns: propertyRuns(100) },
      );
    });

    it('delays the first request of a key by nothing while there is a reserve', () => {
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 3_000 }),
          fc.integer({ min: 1, max: 9 }),
          fc.integer({ min: 1, max: 5 }),
          (n, capacity, reserved) => {
            const queue = createFairQueue({ capacity, reserved });
            fill(queue, 'hostile', capacity);
            for (let i = 0; i < n; i += 1) queue.acquire('hostile').catch(() => undefined);
            for (let i = 0; i < reserved; i += 1) fill(queue, `other ${i}`, 1);
            assert.equal(queue.tryAcquire('one more'), undefined);
          },
        ),
        { numRuns: propertyRuns(100) },
      );
    });

    it('lets a key use the reserve while it holds few, and the whole capacity besides', () => {
      const queue = createFairQueue({ capacity: 3, reserved: 3, few: 2 });
      fill(queue, 'a', 3);
      assert.equal(queue.tryAcquire('a'), undefined);
      fill(queue, 'b', 2);
      assert.equal(queue.tryAcquire('b'), undefined);
      fill(queue, 'c', 1);
      assert.equal(queue.tryAcquire('d'), undefined);
    });

    it('holds each key to its maximum, and serves others meanwhile', async () => {
      const queue = createFairQueue({ capacity: 3, perKeyMax: 2 });
      const [permit] = fill(queue, 'a', 2);
      const { granted, request } = createNotes(queue);
      void request('a', 'a');
      await settle();
      assert.deepEqual(granted, []);
      fill(queue, 'b', 1);
      permit?.release();
      await settle();
      assert.deepEqual(granted, ['a']);
    });

    it('bounds each key alone where the capacity is infinite', () => {
      const queue = createFairQueue({ capacity: Infinity, perKeyMax: 2 });
      for (const key of ['a', 'b', 'c']) {
        fill(queue, key, 2);
        assert.equal(queue.tryAcquire(key), undefined);
      }
    });
  });

  describe('with weights', () => {
    it('lets no lighter request overtake a heavy one that is next', async () => {
      const queue = createFairQueue({ capacity: 8 });
      const permits = [queue.tryAcquire('a', { weight: 4 }), queue.tryAcquire('b', { weight: 3 })];
      const { granted, request } = createNotes(queue);
      void request('heavy', 'c', { weight: 4 });
      void request('light', 'd');
      await settle();
      assert.deepEqual(granted, []);
      permits[0]?.release();
      await settle();
      assert.deepEqual(granted, ['heavy', 'light']);
    });

    it('lets idle keys use the reserve past a heavy request, and nothing that this one waits for', async () => {
      const queue = createFairQueue({ capacity: 8, reserved: 2 });
      const large = queue.tryAcquire('a', { weight: 7 });
      const { granted, request } = createNotes(queue);
      void request('heavy', 'b', { weight: 4 });
      fill(queue, 'c', 1);
      fill(queue, 'd', 1);
      assert.equal(queue.tryAcquire('e'), undefined);
      large?.release();
      await settle();
      assert.deepEqual(granted, ['heavy']);
    });

    it('grants a request above its capacity alone', async () => {
      const queue = createFairQueue({ capacity: 4 });
      const [permit] = fill(queue, 'a', 1);
      const { granted, request, releaseNext } = createNotes(queue);
      void request('whale', 'b', { weight: 100 });
      void request('light', 'c');
      await settle();
      assert.deepEqual(granted, []);
      permit?.release();
      await settle();
      assert.deepEqual(granted, ['whale']);
      assert.equal(queue.count().weight, 4);
      await releaseNext();
      assert.deepEqual(granted, ['whale', 'light']);
    });

    it('refuses a weight that is not a whole number', async () => {
      const queue = createFairQueue({ capacity: 4 });
      for (const weight of [-1, 0.5, Number.NaN, Infinity]) {
        assert.throws(() => queue.tryAcquire('a', { weight }), RangeError);
        await assert.rejects(queue.acquire('a', { weight }), RangeError);
      }
      assert.deepEqual(queue.count(), EMPTY);
    });
  });

  describe('with priorities', () => {
    it('serves high before low within a key, but for every fourth permit', async () => {
      const queue = createFairQueue({ capacity: 1 });
      const [permit] = fill(queue, 'a', 1);
      const { granted, request, releaseNext } = createNotes(queue);
      for (const name of ['low 1', 'low 2']) void request(name, 'a', { priority: 'low' });
      for (const name of ['1', '2', '3', '4', '5']) void request(name, 'a', { priority: 'high' });
      permit?.release();
      await settle();
      for (let i = 0; i < 6; i += 1) await releaseNext();
      assert.deepEqual(granted, ['1', '2', '3', 'low 1', '4', '5', 'low 2']);
    });

    it('counts only permits that a low request had to wait for', async () => {
      const queue = createFairQueue({ capacity: 1 });
      const [permit] = fill(queue, 'a', 1);
      const { granted, request, releaseNext } = createNotes(queue);
      for (const name of ['1', '2', '3', '4', '5', '6']) void request(name, 'a');
      permit?.release();
      await settle();
      for (let i = 0; i < 2; i += 1) await releaseNext();
      void request('low', 'a', { priority: 'low' });
      for (let i = 0; i < 4; i += 1) await releaseNext();
      assert.deepEqual(granted, ['1', '2', '3', '4', '5', '6', 'low']);
    });

    it('gives no key precedence over another for its priority', async () => {
      const queue = createFairQueue({ capacity: 2 });
      const [permit] = fill(queue, 'a', 2);
      const { granted, request } = createNotes(queue);
      for (let i = 0; i < 100; i += 1) request('high', 'a', { priority: 'high' }).catch(() => undefined);
      void request('low', 'b', { priority: 'low' });
      permit?.release();
      await settle();
      assert.deepEqual(granted, ['low']);
    });

    it('goes on with high once low requests are gone', async () => {
      const queue = createFairQueue({ capacity: 1 });
      const [permit] = fill(queue, 'a', 1);
      const { granted, request, releaseNext } = createNotes(queue);
      const gone = new AbortController();
      const low = request('low', 'a', { priority: 'low', signal: gone.signal });
      for (const name of ['1', '2', '3', '4']) void request(name, 'a');
      permit?.release();
      await settle();
      await releaseNext();
      await releaseNext();
      gone.abort(new Error('gone'));
      await assert.rejects(low, /gone/);
      await releaseNext();
      assert.deepEqual(granted, ['1', '2', '3', '4']);
    });
  });

  describe('that is full', () => {
    it('rejects the newest request of a key that has as many queued as it may', async () => {
      const queue = createFairQueue({ capacity: 1, queuedPerKeyMax: 2 });
      fill(queue, 'a', 1);
      const { granted, request } = createNotes(queue);
      for (const name of ['1', '2']) void request(name, 'a');
      await assert.rejects(request('3', 'a'), FULL);
      void request('other', 'b');
      await settle();
      assert.deepEqual(granted, []);
      assert.equal(queue.count().queued, 3);
    });

    it('prefers a high request to the newest low one of the key', async () => {
      const queue = createFairQueue({ capacity: 1, queuedPerKeyMax: 2 });
      const [permit] = fill(queue, 'a', 1);
      const { granted, request, releaseNext } = createNotes(queue);
      void request('low 1', 'a', { priority: 'low' });
      const newest = request('low 2', 'a', { priority: 'low' });
      void request('high', 'a');
      await assert.rejects(newest, FULL);
      await assert.rejects(request('low 3', 'a', { priority: 'low' }), FULL);
      permit?.release();
      await settle();
      await releaseNext();
      assert.deepEqual(granted, ['high', 'low 1']);
    });

    it('rejects the newest request of the longest queue when too many are queued in all', async () => {
      const queue = createFairQueue({ capacity: 1, queuedMax: 3 });
      fill(queue, 'a', 1);
      const { request } = createNotes(queue);
      void request('1', 'a');
      void request('2', 'a');
      const third = request('3', 'a');
      await assert.rejects(request('4', 'a'), ALL_FULL);
      void request('b', 'b');
      await assert.rejects(third, ALL_FULL);
      await assert.rejects(request('b 2', 'b'), ALL_FULL);
      assert.deepEqual(queue.count().queued, 3);
    });

    it('grants what has room, however few may be queued', async () => {
      const queue = createFairQueue({ capacity: 2, queuedMax: 0 });
      await queue.acquire('a');
      await queue.acquire('b');
      await assert.rejects(queue.acquire('c'), ALL_FULL);
    });
  });

  describe('with a deadline', () => {
    it('rejects a request that is queued for too long, and says when to send it again', async () => {
      const queue = createFairQueue({ capacity: 1, waitMaxMs: 1 });
      const [permit] = fill(queue, 'a', 1);
      await assert.rejects(queue.acquire('a'), (error) => {
        assert(error instanceof PermitRejected);
        assert.deepEqual([error.reason, error.scope], ['deadline', 'key']);
        assert(error.retryAfterMs >= 1_000 && error.retryAfterMs <= 1_500, `${error.retryAfterMs}`);
        return true;
      });
      permit?.release();
      assert.deepEqual(queue.count(), EMPTY);
    });

    it('suggests to wait for about as long as others have waited, 90 s at most', async () => {
      let now = 0;
      mock.method(performance, 'now', () => now);
      const queue = createFairQueue({ capacity: 1, queuedPerKeyMax: 1 });
      fill(queue, 'a', 1);
      void queue.acquire('a');
      const suggestion = async () => {
        const error = await queue.acquire('a').catch((error: unknown) => error);
        assert(error instanceof PermitRejected);
        return error.retryAfterMs;
      };
      now = 20_000;
      assert.equal(queue.count().oldestWaitMs, 20_000);
      const soon = await suggestion();
      assert(soon >= 20_000 && soon <= 30_000, `${soon}`);
      now = 3_600_000;
      assert((await suggestion()) <= 90_000);
    });

    it('suggests to come back one by one: two for each permit that was released lately', async () => {
      let now = 0;
      mock.method(performance, 'now', () => now);
      const queue = createFairQueue({ capacity: 1, queuedPerKeyMax: 1 });
      for (now = 0; now < 10_000; now += 100) fill(queue, 'b', 1)[0]?.release();
      fill(queue, 'a', 1);
      void queue.acquire('a');
      const suggestions: number[] = [];
      for (let request = 0; request < 1_000; request += 1) {
        const error = await queue.acquire('a').catch((error: unknown) => error);
        assert(error instanceof PermitRejected);
        suggestions.push(error.retryAfterMs);
      }
      // A hundred releases in ten seconds: twenty come back in a second.
      const late = suggestions.filter((ms) => ms >= 10_000 && ms < 20_000).length;
      assert(late >= 195 && late <= 205, `${late}`);
      assert.equal(suggestions.at(-1), 50_000);
    });

    it('keeps no timer that holds the process, and neither timer nor listener for a request that is granted', async () => {
      const set = mock.method(globalThis, 'setTimeout');
      const cleared = mock.method(globalThis, 'clearTimeout');
      const queue = createFairQueue({ capacity: 1 });
      const [permit] = fill(queue, 'a', 1);
      const { signal } = new AbortController();
      const waiting = queue.acquire('a', { waitMaxMs: 60_000, signal });
      const timer: NodeJS.Timeout | undefined = set.mock.calls[0]?.result;
      assert.equal(timer?.hasRef(), false);
      permit?.release();
      await waiting;
      assert.equal(getEventListeners(signal, 'abort').length, 0);
      assert(cleared.mock.calls.some((call) => call.arguments[0] === timer));
    });
  });

  describe('whose callers leave', () => {
    it('forgets them, and serves the next', async () => {
      const queue = createFairQueue({ capacity: 4 });
      const [permit] = fill(queue, 'a', 1);
      const { granted, request } = createNotes(queue);
      const gone = new AbortController();
      const heavy = request('heavy', 'b', { weight: 4, signal: gone.signal });
      void request('light', 'c');
      await settle();
      assert.deepEqual(granted, []);
      gone.abort(new Error('gone'));
      await assert.rejects(heavy, /gone/);
      await settle();
      assert.deepEqual(granted, ['light']);
      permit?.release();
      assert.deepEqual(queue.count(), { ...EMPTY, inFlight: 1, weight: 1, keys: 1 });
    });

    it('grants nothing to a caller that left before', async () => {
      const queue = createFairQueue({ capacity: 1 });
      await assert.rejects(queue.acquire('a', { signal: AbortSignal.abort(new Error('gone')) }), /gone/);
      assert.deepEqual(queue.count(), EMPTY);
    });

    it('loses no permit of a caller that leaves at the moment of the grant', async () => {
      for (const [first, second] of [
        ['release', 'abort'],
        ['abort', 'release'],
      ]) {
        const queue = createFairQueue({ capacity: 1 });
        const [permit] = fill(queue, 'a', 1);
        const gone = new AbortController();
        const waiting = queue.acquire('a', { signal: gone.signal }).catch(() => undefined);
        for (const act of [first, second]) act === 'abort' ? gone.abort() : permit?.release();
        (await waiting)?.release();
        assert.deepEqual(queue.count(), EMPTY);
      }
    });

    it('leaves no trace of a request that may not wait', async () => {
      const queue = createFairQueue({ capacity: 1 });
      const [permit] = fill(queue, 'a', 1);
      assert.equal(queue.tryAcquire('b'), undefined);
      assert.equal(queue.count().keys, 1);
      const waiting = queue.acquire('c');
      assert.equal(queue.tryAcquire('b'), undefined);
      permit?.release();
      (await waiting).release();
      assert.deepEqual(queue.count(), EMPTY);
    });

    it('is released after its longest time', async () => {
      const queue = createFairQueue({ capacity: 1, permitMaxMs: 1 });
      const slow = await queue.acquire('slow');
      const next = await queue.acquire('next');
      slow.release();
      next.release();
      assert.deepEqual(queue.count(), EMPTY);
    });

    it('counts a release once, also at the end of a block', async () => {
      const queue = createFairQueue({ capacity: 2 });
      {
        using permit = await queue.acquire('a');
        fill(queue, 'b', 1);
        permit.release();
        permit.release();
        assert.equal(queue.count().weight, 1);
      }
      assert.equal(queue.count().weight, 1);
    });
  });

  it('rejects who is queued, and who would have to wait later, once it is closed', async () => {
    const queue = createFairQueue({ capacity: 2, waitMaxMs: 60_000 });
    const [permit] = fill(queue, 'a', 1);
    const heavy = assert.rejects(queue.acquire('b', { weight: 2 }), /ending/);
    const light = assert.rejects(queue.acquire('c'), /ending/);
    queue.close(new Error('ending'));
    await Promise.all([heavy, light]);
    await assert.rejects(queue.acquire('b', { weight: 2 }), /ending/);
    permit?.release();
    (await queue.acquire('b', { weight: 2 })).release();
    assert.deepEqual(queue.count(), EMPTY);
  });

  describe('whatever is acquired, released and given up', () => {
    it('stays within its bounds, serves each key in order, loses no permit, and is empty in the end', async () => {
      await fc.assert(
        fc.asyncProperty(limits, fc.array(step, { maxLength: 60 }), async (options, steps) => {
          const queue = createFairQueue(options);
          const callers = createCallers(queue, (weight) =>
            Math.min(weight, options.perKeyMax, options.capacity),
          );
          for (const step of steps) {
            const before = callers.inState('queued');
            callers.act(step);
            await settle();
            callers.requireOrder(before);
            const [inFlight, queued] = [callers.inState('inFlight'), callers.inState('queued')];
            const weight = weigh(inFlight);
            assert(weight <= options.capacity + options.reserved, `${weight} in flight`);
            for (const key of KEYS) {
              assert(weigh(inFlight.filter((request) => request.key === key)) <= options.perKeyMax);
              assert(queued.filter((request) => request.key === key).length <= options.queuedPerKeyMax);
            }
            assert(queued.length <= options.queuedMax);
            assert(inFlight.length > 0 || queued.length === 0, 'requests are queued for nothing');
            assert.partialDeepStrictEqual(queue.count(), {
              inFlight: inFlight.length,
              weight,
              queued: queued.length,
            });
          }
          for (let left = callers.inState('inFlight'); left.length > 0; left = callers.inState('inFlight')) {
            for (const request of left) callers.release(request);
            await settle();
          }
          assert.deepEqual(callers.inState('queued'), []);
          assert.deepEqual(queue.count(), EMPTY);
        }),
      );
    });

    it('uses all of its capacity, and grants each permit to a key with the fewest in flight', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 6 }),
          fc.array(step, { maxLength: 60 }),
          async (capacity, steps) => {
            const queue = createFairQueue({ capacity });
            const callers = createCallers(queue, (weight) => weight);
            const countOf = (state: Caller['state'], key: string) =>
              callers.inState(state).filter((caller) => caller.key === key).length;
            for (const step of steps) {
              callers.act({ ...step, weight: 1 });
              await settle();
              const queued = callers.inState('queued').length;
              assert(queued === 0 || callers.inState('inFlight').length === capacity, 'capacity is unused');
            }
            for (
              let left = callers.inState('inFlight');
              left.length > 0;
              left = callers.inState('inFlight')
            ) {
              const [released] = left;
              callers.release(released);
              const waiting = KEYS.filter((key) => countOf('queued', key) > 0);
              const fewest = Math.min(...waiting.map((key) => countOf('inFlight', key)));
              const before = new Map(KEYS.map((key) => [key, countOf('inFlight', key)]));
              callers.granted.length = 0;
              await settle();
              assert.equal(callers.granted.length, Math.min(1, waiting.length));
              for (const { key } of callers.granted) assert.equal(before.get(key), fewest);
            }
            assert.deepEqual(queue.count(), EMPTY);
          },
        ),
      );
    });
  });
});

type Step = { act: 'acquire' | 'try' | 'release' | 'leave' | 'both'; pick: number } & Pick<
  Caller,
  'key' | 'weight' | 'priority'
>;
type Caller = {
  key: string;
  weight: number;
  priority: Priority;
  gone: AbortController;
  state: 'queued' | 'inFlight' | 'ended';
  permit?: Permit;
};

const KEYS = ['a', 'b', 'c', 'd'];

/** One act of the callers of a queue. `both`: one releases its permit and one that waits leaves, at one moment. */
const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom('acquire', 'acquire', 'acquire', 'try', 'release', 'release', 'leave', 'both'),
  key: fc.constantFrom(...KEYS),
  weight: fc.nat(9),
  priority: fc.constantFrom('high', 'low'),
  pick: fc.nat(),
});

const limits = fc.record({
  capacity: fc.integer({ min: 1, max: 6 }),
  reserved: fc.nat(3),
  few: fc.integer({ min: 1, max: 2 }),
  perKeyMax: fc.integer({ min: 1, max: 6 }),
  queuedMax: fc.integer({ min: 0, max: 20 }),
  queuedPerKeyMax: fc.integer({ min: 1, max: 10 }),
});

function weigh(callers: Caller[]): number {
  return callers.reduce((sum, { weight }) => sum + weight, 0);
}

/** Creates the callers of a queue, and what they know of it. `counted` returns the weight that the queue counts. */
function createCallers(queue: FairQueue, counted: (weight: number) => number) {
  const callers: Caller[] = [];
  const granted: Caller[] = [];
  const inState = (state: Caller['state']) => callers.filter((caller) => caller.state === state);
  const grant = (caller: Caller, permit: Permit) => {
    Object.assign(caller, { permit, state: 'inFlight' });
    granted.push(caller);
  };
  const end = (caller: Caller | undefined) => {
    if (caller) caller.state = 'ended';
  };
  function release(caller: Caller | undefined): void {
    end(caller);
    caller?.permit?.release();
  }
  return {
    granted,
    inState,
    release,
    act({ act, pick, key, weight, priority }: Step): void {
      const [inFlight, queued] = [inState('inFlight'), inState('queued')];
      if (act === 'release' || act === 'both') release(inFlight[pick % inFlight.length]);
      if (act === 'leave' || act === 'both') queued[pick % queued.length]?.gone.abort();
      if (act !== 'acquire' && act !== 'try') return;
      const gone = new AbortController();
      const caller: Caller = { key, weight: counted(weight), priority, gone, state: 'queued' };
      callers.push(caller);
      if (act === 'acquire')
        queue.acquire(key, { weight, priority, signal: gone.signal }).then(
          (permit) => grant(caller, permit),
          () => end(caller),
        );
      else {
        const permit = queue.tryAcquire(key, { weight, priority });
        if (permit) grant(caller, permit);
        else end(caller);
      }
    },
    /** Requires that of those that were queued, each that was granted came before others of its key and priority. */
    requireOrder(before: Caller[]): void {
      for (const [place, caller] of before.entries())
        if (caller.state === 'inFlight')
          for (const earlier of before.slice(0, place))
            assert(
              earlier.state !== 'queued' ||
                earlier.key !== caller.key ||
                earlier.priority !== caller.priority,
              'a request was overtaken by a later one of its key',
            );
    },
  };
}
