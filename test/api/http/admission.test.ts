import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { createAdmission } from '../../../api/http/admission.ts';
import { captureMetrics } from '../../capture-metrics.ts';

const never = () => new AbortController().signal;
const HOUR_MS = 3_600_000;
const NONE = { count: () => 0, look: () => undefined };

describe('the admission of runs', () => {
  it('refuses at once what is over the bound of one organization, and of all', async () => {
    const admission = createAdmission({ hasWorker: false, heldMaxMs: HOUR_MS });
    const [gone, ofMany] = [new AbortController(), new AbortController()];
    const waiting: Promise<unknown>[] = [];
    const wait = (owner: string, { signal }: AbortController) =>
      waiting.push(admission.enter(owner, () => signal).catch(({ code }) => code));
    for (let place = 0; place < 32; place += 1) await admission.enter('a', never);
    for (let place = 0; place < 32; place += 1) await admission.enter(`other ${place}`, never);
    const metrics = captureMetrics();
    for (let request = 0; request < 1_000; request += 1) wait('a', gone);
    assert.equal((await metrics.read('weir.gate.permits'))['gate=run_starts'], 64);
    assert.equal((await metrics.read('weir.gate.queued'))['gate=run_starts'], 1_000);
    await assert.rejects(admission.enter('a', never), { code: 'RATE_LIMITED', retryAfterSeconds: 5 });
    assert.equal((await metrics.read('weir.rate_limit.refusals'))['limit=waiting'], 1);
    for (let request = 0; request < 7_000; request += 1) wait(`one of many ${request}`, ofMany);
    await assert.rejects(admission.enter('b', never), { code: 'SERVICE_BUSY' });
    gone.abort();
    ofMany.abort();
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['REQUEST_TIMEOUT']));
    assert.equal((await metrics.read('weir.gate.queued'))['gate=run_starts'], 0);
    admission.stopMeasuring();
    assert.equal((await metrics.read('weir.gate.permits'))['gate=run_starts'] ?? 0, 0);
    metrics.stop();
  });

  it('refuses those that have their equal share of what is left when many of all organizations wait', async () => {
    const admission = createAdmission({ hasWorker: false, heldMaxMs: HOUR_MS });
    const gone = new AbortController();
    const refused = new Map<string, number>();
    const requests: Promise<unknown>[] = [];
    const send = (owner: string, count: number) => {
      for (let request = 0; request < count; request += 1)
        requests.push(
          admission
            .enter(owner, () => gone.signal)
            .catch(({ code }) => {
              if (code === 'SERVICE_BUSY') refused.set(owner, (refused.get(owner) ?? 0) + 1);
            }),
        );
    };
    for (let place = 0; place < 64; place += 1) await admission.enter(`holds ${place}`, never);
    for (const first of ['a', 'b', 'c', 'd', 'e']) send(first, 800);
    send('a', 1);
    // With 572 there are 3,428 left, and 571 for each of six.
    send('f', 1_000);
    for (let other = 0; other < 100; other += 1) send(`other ${other}`, 8);
    gone.abort();
    await Promise.all(requests);
    assert.deepEqual(Object.fromEntries(refused), { a: 1, f: 428 });
    admission.stopMeasuring();
  });

  it('bounds the bytes of those that wait: then refuses whoever holds an equal share of them', async () => {
    const admission = createAdmission({ hasWorker: false, heldMaxMs: HOUR_MS });
    let gone = new AbortController();
    const requests: Promise<unknown>[] = [];
    const counts: { [owner: string]: number } = {};
    const send = (owner: string, count: number, bytes: number) => {
      for (let request = 0; request < count; request += 1)
        requests.push(
          admission
            .enter(owner, () => gone.signal, { bytes })
            .catch(({ code }) => {
              if (code === 'SERVICE_BUSY') counts[owner] = (counts[owner] ?? 0) + 1;
            }),
        );
    };
    for (let place = 0; place < 64; place += 1) await admission.enter(`holds ${place}`, never);
    const MiB = 1024 * 1024;
    send('a', 64, MiB);
    send('a', 1, MiB);
    send('a', 1, 0);
    // With 22 MiB there are 42 left, and 21 for each of two.
    send('b', 40, MiB);
    send('few', 1, 1_000);
    gone.abort();
    await Promise.all(requests);
    assert.deepEqual(counts, { a: 1, b: 18 });
    gone = new AbortController();
    send('a', 64, MiB);
    gone.abort();
    await Promise.all(requests);
    assert.deepEqual(counts, { a: 1, b: 18 });
    admission.stopMeasuring();
  });

  it('refuses a request that has waited too long, and says so', async () => {
    const admission = createAdmission({ hasWorker: false, heldMaxMs: HOUR_MS, waitMaxMs: 5 });
    for (let place = 0; place < 32; place += 1) await admission.enter('a', never);
    await assert.rejects(admission.enter('a', never), {
      code: 'RATE_LIMITED',
      retryAfterSeconds: 5,
      message: 'The run waited 0.005 s for its turn and was not started: try again in 5 s.',
    });
  });

  it('says that the process is stopping to those who wait then', async () => {
    const stopping = new AbortController();
    const admission = createAdmission({ hasWorker: false, heldMaxMs: HOUR_MS, stopping: stopping.signal });
    for (let place = 0; place < 32; place += 1) await admission.enter('a', never);
    const waiting = admission.enter('a', () => stopping.signal);
    stopping.abort();
    await assert.rejects(waiting, { code: 'SERVICE_STOPPING' });
  });

  it('gives one organization all places while it is alone, another its first beside them', async () => {
    const admission = createAdmission({ hasWorker: true, heldMaxMs: HOUR_MS, spare: NONE });
    const gone = new AbortController();
    let begun = 0;
    const begin = () => admission.enter('busy', () => gone.signal).then(() => (begun += 1));
    const places = 4 * availableParallelism();
    const requests = Array.from({ length: 2 * places }, begin);
    await admission.enter('other', never);
    assert.equal(begun, places);
    gone.abort();
    await Promise.allSettled(requests);
  });

  it('lets requests that wait for their runs go before a backlog of jobs of the same organization', async () => {
    const admission = createAdmission({ hasWorker: false, heldMaxMs: HOUR_MS });
    const held = [];
    for (let place = 0; place < 32; place += 1) held.push(await admission.enter('a', never));
    const order: string[] = [];
    const enter = (name: string, patient: boolean) =>
      admission.enter('a', never, { patient }).then((place) => {
        order.push(name);
        place.end();
      });
    const jobs = Array.from({ length: 150 }, () => enter('job', true));
    const calls = Array.from({ length: 3 }, () => enter('call', false));
    held[0]?.end();
    await Promise.all([...jobs, ...calls]);
    assert.deepEqual(order.slice(0, 4), ['call', 'call', 'call', 'job']);
  });

  it('keeps room for requests that wait for their runs when no more jobs may wait', async () => {
    const admission = createAdmission({ hasWorker: false, heldMaxMs: HOUR_MS });
    const gone = new AbortController();
    for (let place = 0; place < 32; place += 1) await admission.enter('a', never);
    const enter = (patient: boolean) => admission.enter('a', () => gone.signal, { patient });
    const waiting = Array.from({ length: 900 }, () => enter(true));
    await assert.rejects(enter(true), { code: 'RATE_LIMITED' });
    waiting.push(enter(false));
    gone.abort();
    const ends = await Promise.allSettled(waiting);
    assert.deepEqual(
      new Set(ends.map((end) => end.status === 'rejected' && end.reason.code)),
      new Set(['REQUEST_TIMEOUT']),
    );
  });

  it('lets each request that waited begin in a turn of the event loop of its own', async () => {
    const admission = createAdmission({ hasWorker: false, heldMaxMs: HOUR_MS });
    const held = [];
    for (let place = 0; place < 32; place += 1) held.push(await admission.enter('a', never));
    const begun: number[] = [];
    let turn = 0;
    const enter = () =>
      admission.enter('a', never).then((place) => {
        begun.push(turn);
        place.end();
      });
    const waiting = Promise.all(Array.from({ length: 4 }, enter));
    for (const place of held.slice(0, 4)) place.end();
    for (; begun.length < 4; turn += 1) await setImmediate();
    await waiting;
    assert.equal(new Set(begun).size, 4);
  });

  it('takes the place of what holds it for long', async () => {
    const admission = createAdmission({ hasWorker: true, heldMaxMs: 1, spare: NONE });
    for (let request = 0; request < 9 * availableParallelism(); request += 1)
      await admission.enter('slow', never);
  });
});
