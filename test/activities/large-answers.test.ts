// Answers of models over 1 MiB are read when their organization's turn has come (activities/model-client.ts).
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { MODEL_ANSWER_MAX_BYTES } from '../../activities/model-client.ts';
import { reserveAnswerMemory, reserveInputMemory } from '../../activities/reserve-memory.ts';
import { MODEL_TIMEOUT_DEFAULT_MS } from '../../flow/limits.ts';
import { createLargeValues } from '../../large-values/large-values.ts';
import { answer, type Behaviour } from '../fakes/model-server.ts';
import { fails, useCallModel } from './call-model-harness.ts';

const MB = 1024 * 1024;

describe('large answers', () => {
  const harness = useCallModel();
  const { signal } = new AbortController();
  const largeValues = createLargeValues();
  let free: () => void;
  let holding: Promise<unknown>;

  const inHand = <T>(owner: string, work: () => Promise<T>) =>
    reserveInputMemory(largeValues, owner, 0, { isLocal: false, signal }, work);

  beforeEach(async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { promise, resolve } = Promise.withResolvers<void>();
    free = resolve;
    const full = Promise.withResolvers<void>();
    // Two of them are what one organization may have.
    holding = Promise.all(
      [0, 1].map((index) =>
        inHand('busy', async () => {
          await reserveAnswerMemory(MODEL_ANSWER_MAX_BYTES, signal);
          if (index === 1) full.resolve();
          await promise;
        }),
      ),
    );
    await full.promise;
  });
  afterEach(async () => {
    free();
    await holding;
    // Forgets them too: restored once more by another test, clearTimeout would be that of the mocked timers.
    mock.reset();
  });

  /** Turns come after what is ready meanwhile. */
  async function whatIsReady(): Promise<void> {
    for (let round = 0; round < 10; round += 1) await new Promise(setImmediate);
  }

  /** A call of the busy organization that is answered so, and one of another after it, which ends meanwhile. */
  async function callWhileBusy(behaviour: Behaviour) {
    const state = { settled: false };
    harness.server.will(behaviour, answer('x'.repeat(8 * MB)));
    // The timer of a call is stopped when it begins to wait.
    const waits = Promise.withResolvers<void>();
    const { clearTimeout } = globalThis;
    mock.method(globalThis, 'clearTimeout', (timer: NodeJS.Timeout) => {
      clearTimeout(timer);
      waits.resolve();
    });
    const calling = inHand('busy', () => harness.call()).finally(() => {
      state.settled = true;
    });
    calling.catch(() => undefined);
    await waits.promise;
    await inHand('another', () => harness.call());
    return { calling, state };
  }

  it('wait for their turn, while another’s are read; the wait counts towards no timeout, and none is asked for again', async () => {
    const { calling, state } = await callWhileBusy(answer('y'.repeat(2 * MB)));
    mock.timers.tick(2 * MODEL_TIMEOUT_DEFAULT_MS);
    await whatIsReady();
    assert.equal(state.settled, false);
    free();
    const { json } = (await calling) as { json: Buffer };
    assert.equal(json.length, '""'.length + 2 * MB);
    assert.equal(harness.server.calls.length, 2);
  });

  it('have their whole time again after it', async () => {
    const { calling } = await callWhileBusy((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write(' '.repeat(2 * MB));
    });
    free();
    await holding;
    await whatIsReady();
    mock.timers.tick(MODEL_TIMEOUT_DEFAULT_MS);
    await assert.rejects(calling, fails('MODEL_UNAVAILABLE', /within 600 s/));
  });

  it('fail at once, and for good, where they say that they are longer than any may be', async () => {
    harness.server.will((response) => {
      const headers = { 'content-type': 'application/json', 'content-length': MODEL_ANSWER_MAX_BYTES + 1 };
      response.writeHead(200, headers).flushHeaders();
    });
    await assert.rejects(
      inHand('busy', () => harness.call()),
      fails('OUTPUT_TOO_LARGE', /more than 16 MiB/),
    );
  });
});
