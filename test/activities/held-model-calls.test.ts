import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { CallForsaken } from '../../activities/call-forsaken.ts';
import { createHeldModelCalls, type HeldModelCall } from '../../activities/held-model-calls.ts';
import { createModelSpeeds } from '../../activities/model/model-speeds.ts';
import type { Value } from '../../flow/value.ts';
import { waitUntil } from '../wait-until.ts';

/** A call that ends only when it is aborted. */
const untilAborted = ({ signal }: { signal: AbortSignal }) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
const isStopped = async () => true;
const goesOn = async () => false;
/** An engine that is not away. */
const isHere = async () => false;

describe('held model calls', () => {
  afterEach(() => mock.restoreAll());

  it('that nobody has taken over are aborted and forgotten when their run has stopped', async () => {
    const held = createHeldModelCalls({ taskQueue: 'queue', isEngineAway: isHere });
    const call = held.begin('key', 'acme', untilAborted);
    held.handOver('key', isStopped);
    assert('error' in ((await call?.ended) ?? {}));
    assert.equal(held.find('key'), undefined);
  });

  it('of one block are one, also when two attempts begin it at a time', async () => {
    const held = createHeldModelCalls({ taskQueue: 'queue', isEngineAway: isHere });
    const begin = (work: typeof untilAborted) => held.begin('key', 'acme', work);
    const [first, second] = await Promise.all([begin(untilAborted), begin(() => assert.fail('two calls'))]);
    assert.equal(first, second);
    first?.abort(new Error('over'));
    await first?.ended;
    held.end('key');
  });

  it('that were taken over hand on what they have kept, and keep from then on', async () => {
    const held = createHeldModelCalls({ taskQueue: 'queue', isEngineAway: isHere });
    let keep: ((value: object) => boolean) | undefined;
    const call = held.begin('key', 'acme', (attempt) => {
      keep = attempt.keep;
      return untilAborted(attempt);
    });
    keep?.({ n: 1 });
    const received: object[] = [];
    call?.takeOver((value) => void received.push(value));
    keep?.({ n: 2 });
    assert.deepEqual([received, call?.kept()], [[{ n: 1 }, { n: 2 }], { n: 2 }]);
  });

  it('go on to their end when the engine was away, since an attempt elsewhere may wait for it', async () => {
    let looks = 0;
    const isEngineAway = async () => {
      looks += 1;
      return looks <= 3;
    };
    let watches = 0;
    const waited = Promise.withResolvers<void>();
    const isCancelled = async () => {
      watches += 1;
      // Later than the call would be aborted.
      if (watches === 20) waited.resolve();
      return false;
    };
    const reply = Promise.withResolvers<Value>();
    const held = createHeldModelCalls({
      taskQueue: 'queue',
      isEngineAway,
      untaken: { maxMs: 20, afterOutageMs: 20, lookMs: 10 },
    });
    const call = held.begin('key', 'acme', ({ signal }) =>
      Promise.race([reply.promise, untilAborted({ signal })]),
    );
    held.handOver('key', isCancelled);
    await waited.promise;
    reply.resolve({ json: 'late' } as never);
    assert.deepEqual(await call?.ended, { reply: { json: 'late' } });
    assert.equal(held.find('key'), undefined);
  });

  it('that fail after an outage of the engine keep their error for some time, for the attempt that comes then', async () => {
    const failed = Promise.withResolvers<never>();
    const held = createHeldModelCalls({
      taskQueue: 'queue',
      isEngineAway: isHere,
      untaken: { maxMs: 20, afterOutageMs: 50, lookMs: 10 },
    });
    const keep = () => undefined;
    const call = held.make(
      'key',
      { number: 1, signal: new AbortController().signal } as never,
      () => failed.promise,
    );
    call.takeOver(keep);
    held.giveBack('key', keep, goesOn);
    failed.reject(new Error('refused'));
    await call.ended;
    assert.equal(held.find('key'), call);
    await waitUntil(() => !held.find('key'));
  });

  it('that nobody took over say so to what they do, unlike those of a run that has stopped', async () => {
    for (const [isCancelled, isForsaken] of [
      [goesOn, true],
      [isStopped, false],
    ] as const) {
      const held = createHeldModelCalls({
        taskQueue: 'queue',
        isEngineAway: isHere,
        untaken: { maxMs: 20, afterOutageMs: 20, lookMs: 10 },
      });
      const call = held.begin('key', 'acme', untilAborted);
      held.handOver('key', isCancelled);
      const ending = (await call?.ended) ?? {};
      assert.equal('error' in ending && ending.error instanceof CallForsaken, isForsaken);
    }
  });

  it('that go on after an outage are announced until they end, and no longer', async () => {
    const told: string[] = [];
    const failed = Promise.withResolvers<never>();
    const announcements = {
      tell: async (keys: string[]) => void told.push(`tell ${keys}`),
      withdraw: async (key: string) => void told.push(`withdraw ${key}`),
    };
    const times = { maxMs: 20, afterOutageMs: 60_000, lookMs: 10 };
    const held = createHeldModelCalls({
      taskQueue: 'queue',
      isEngineAway: isHere,
      untaken: times,
      announcements,
    });
    const keep = () => undefined;
    const call = held.make(
      'key',
      { number: 1, signal: new AbortController().signal } as never,
      () => failed.promise,
    );
    call.takeOver(keep);
    held.giveBack('key', keep, goesOn);
    await waitUntil(() => told.length > 0);
    failed.reject(new Error('refused'));
    await waitUntil(() => told.at(-1) === 'withdraw key');
    assert.equal(told[0], 'tell key');
    held.end('key');
  });

  it('that a repeated workflow task has found wait anew, and are watched by one alone', async () => {
    let now = 0;
    mock.method(performance, 'now', () => now);
    const held = createHeldModelCalls({
      taskQueue: 'queue',
      isEngineAway: isHere,
      untaken: { maxMs: 20, afterOutageMs: 20, lookMs: 10 },
    });
    const call = held.begin('key', 'acme', untilAborted);
    let looksOfSecond = 0;
    const lookOfSecond = async () => {
      looksOfSecond += 1;
      return false;
    };
    const looks: number[] = [];
    held.handOver('key', async () => {
      now += 15;
      looks.push(now);
      if (looks.length === 1) held.handOver('key', lookOfSecond);
      return false;
    });
    assert('error' in ((await call?.ended) ?? {}));
    // Its time was over at 20, and is now at 35.
    assert.deepEqual([looks, looksOfSecond], [[15, 30, 45], 0]);
  });

  it('leave room in workflow tasks: one organization has a bound, and another still begins beside it', async () => {
    const held = createHeldModelCalls({ taskQueue: 'queue', isEngineAway: isHere });
    let begun = 0;
    while (held.begin(`acme ${begun}`, 'acme', untilAborted)) begun += 1;
    assert.equal(begun, 96);
    for (let index = 0; index < 4; index += 1) assert(held.begin(`other ${index}`, 'other', untilAborted));
    assert.equal(held.begin('other again', 'other', untilAborted), undefined);
    assert.equal(held.begin('acme again', 'acme', untilAborted), undefined);
    for (let index = 0; index < 40; index += 1) held.handOver(`acme ${index}`, goesOn);
    assert(held.begin('acme again', 'acme', untilAborted), 'a call that went on still holds its place');
    for (let index = 0; index < 40; index += 1) held.end(`acme ${index}`);
  });

  it('begin no more once their worker stops, which waits until each was taken over or has ended', async () => {
    const held = createHeldModelCalls({ taskQueue: 'queue', isEngineAway: isHere });
    const [taken] = [held.begin('taken', 'acme', untilAborted)] as [HeldModelCall];
    held.begin('ended', 'acme', async () => ({ busy: true }));
    let isDrained = false;
    const drained = held.drain().then(() => {
      isDrained = true;
    });
    assert.equal(held.begin('new', 'acme', untilAborted), undefined);
    taken.takeOver(() => undefined);
    await new Promise(setImmediate);
    assert.equal(isDrained, false);
    held.end('ended');
    await drained;
  });
});

describe('the speed of a model', () => {
  it('is slow for an organization while its calls take longer than the limit on average, and is not when it is unknown', () => {
    const speeds = createModelSpeeds(1_000);
    assert.equal(speeds.isSlow('acme', 'demo/chat'), false);
    speeds.note('acme', 'demo/chat', 30_000);
    assert.deepEqual(
      [
        speeds.isSlow('acme', 'demo/chat'),
        speeds.isSlow('acme', 'demo/other'),
        speeds.isSlow('other', 'demo/chat'),
      ],
      [true, false, false],
    );
    for (let calls = 0; calls < 30; calls += 1) speeds.note('acme', 'demo/chat', 300);
    assert.equal(speeds.isSlow('acme', 'demo/chat'), false);
  });
});
