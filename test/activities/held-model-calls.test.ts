import assert from 'node:assert/strict';
import { createHeldModelCalls, type HeldModelCall } from '../../activities/held-model-calls.ts';
import { createModelSpeeds } from '../../activities/model-speeds.ts';

/** A call that ends only when it is aborted. */
const untilAborted = ({ signal }: { signal: AbortSignal }) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
const isStopped = async () => true;
const goesOn = async () => false;

describe('held model calls', () => {
  it('that nobody has taken over are aborted and forgotten when their run has stopped', async () => {
    const held = createHeldModelCalls('queue');
    const call = await held.begin('key', 'acme', untilAborted);
    held.handOver('key', isStopped);
    assert('error' in ((await call?.ended) ?? {}));
    assert.equal(held.find('key'), undefined);
  });

  it('that were taken over hand on what they have kept, and keep from then on', async () => {
    const held = createHeldModelCalls('queue');
    let keep: ((value: object) => boolean) | undefined;
    const call = await held.begin('key', 'acme', (attempt) => {
      keep = attempt.keep;
      return untilAborted(attempt);
    });
    keep?.({ n: 1 });
    const received: object[] = [];
    call?.takeOver((value) => void received.push(value));
    keep?.({ n: 2 });
    assert.deepEqual([received, call?.kept()], [[{ n: 1 }, { n: 2 }], { n: 2 }]);
  });

  it('leave room in workflow tasks: one organization has a bound, and another still begins beside it', async () => {
    const held = createHeldModelCalls('queue');
    let begun = 0;
    while (await held.begin(`acme ${begun}`, 'acme', untilAborted)) begun += 1;
    assert.equal(begun, 96);
    assert(await held.begin('other', 'other', untilAborted));
    assert.equal(await held.begin('acme again', 'acme', untilAborted), undefined);
    for (let index = 0; index < 40; index += 1) held.handOver(`acme ${index}`, goesOn);
    assert(await held.begin('acme again', 'acme', untilAborted), 'a call that went on still holds its place');
    for (let index = 0; index < 40; index += 1) held.end(`acme ${index}`);
  });

  it('begin no more once their worker stops, which waits until each was taken over or has ended', async () => {
    const held = createHeldModelCalls('queue');
    const [taken] = [await held.begin('taken', 'acme', untilAborted)] as [HeldModelCall];
    await held.begin('ended', 'acme', async () => ({ busy: true }));
    let isDrained = false;
    const drained = held.drain().then(() => {
      isDrained = true;
    });
    assert.equal(await held.begin('new', 'acme', untilAborted), undefined);
    taken.takeOver(() => undefined);
    await new Promise(setImmediate);
    assert.equal(isDrained, false);
    held.end('ended');
    await drained;
  });
});

describe('the speed of a model', () => {
  it('is slow while its calls take longer than the limit on average, and is not when it is unknown', () => {
    const speeds = createModelSpeeds(1_000);
    assert.equal(speeds.isSlow('demo/chat'), false);
    speeds.note('demo/chat', 30_000);
    assert.deepEqual([speeds.isSlow('demo/chat'), speeds.isSlow('demo/other')], [true, false]);
    for (let calls = 0; calls < 30; calls += 1) speeds.note('demo/chat', 300);
    assert.equal(speeds.isSlow('demo/chat'), false);
  });
});
