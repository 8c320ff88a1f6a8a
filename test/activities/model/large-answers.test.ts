// Answers of models over 1 MiB are read when their organization's turn has come (activities/model/fetch-answer.ts).
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { MODEL_ANSWER_MAX_BYTES, type ReserveAnswer } from '../../../activities/model/fetch-answer.ts';
import { createBytesGate } from '../../../platform/limits/gates.ts';
import { answer, type Behaviour } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const MB = 1024 * 1024;

describe('large answers', () => {
  const harness = useAskModel();
  const gate = createBytesGate();
  let free: () => void;
  let holding: Promise<unknown>;

  /** Called when a call begins to wait for a permit for its answer. */
  let waits = (): void => undefined;
  async function inFlight<T>(owner: string, work: (reserveAnswer: ReserveAnswer) => Promise<T>): Promise<T> {
    using permits = new DisposableStack();
    return await work(async (weight, signal) => {
      waits();
      permits.use(await gate.acquire(owner, { weight, signal }));
    });
  }
  const callOf = (owner: string, timeoutMs?: number) =>
    inFlight(owner, (reserveAnswer) =>
      harness.call(
        timeoutMs === undefined ? {} : { processor_config: { timeout_ms: timeoutMs } },
        undefined,
        { reserveAnswer },
      ),
    );

  beforeEach(async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    free = resolve;
    const full = Promise.withResolvers<void>();
    // One of them is what one organization may have.
    holding = inFlight('busy', async (reserveAnswer) => {
      await reserveAnswer(MODEL_ANSWER_MAX_BYTES, new AbortController().signal);
      full.resolve();
      await promise;
    });
    await full.promise;
  });
  afterEach(async () => {
    free();
    await holding;
  });

  /**
   * A call of the busy organization that is answered so and waits; its time may be too short to get there on a slow machine,
   * and is then doubled. Meanwhile another organization's call ends.
   */
  async function callWhileBusy(behaviour: Behaviour) {
    for (let timeoutMs = 250; ; timeoutMs *= 2) {
      harness.server.will(behaviour);
      const begun = new Promise<true>((resolve) => {
        waits = () => resolve(true);
      });
      const calling = callOf('busy', timeoutMs);
      const settled = calling.then(
        () => false,
        () => false,
      );
      if (!(await Promise.race([begun, settled]))) continue;
      harness.server.will(answer('x'.repeat(4 * MB)));
      await callOf('another');
      return { calling, settled, timeoutMs };
    }
  }

  it('wait for their turn, while another’s are read; the wait counts towards no timeout, and none is asked for again', async () => {
    const { calling, settled, timeoutMs } = await callWhileBusy(answer('y'.repeat(2 * MB)));
    const asked = harness.server.calls.length;
    assert.equal(await Promise.race([settled, setTimeout(2 * timeoutMs, 'waits')]), 'waits');
    free();
    const { json } = (await calling) as { json: Buffer };
    assert.equal(json.length, '""'.length + 2 * MB);
    assert.equal(harness.server.calls.length, asked);
  });

  it('have their whole time again after it', async () => {
    const { calling, timeoutMs } = await callWhileBusy((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write(' '.repeat(2 * MB));
    });
    free();
    await assert.rejects(calling, fails('MODEL_UNAVAILABLE', RegExp(`within ${timeoutMs / 1_000} s:`)));
  });

  it('fail where their text is longer than any output may be, and cost what they used', async () => {
    harness.server.will(answer('x'.repeat(5 * MB)));
    await assert.rejects(
      callOf('another'),
      fails('OUTPUT_TOO_LARGE', /has 5242880 characters; at most 4194304 bytes/),
    );
    assert.ok(harness.usage.completionTokens > 0);
  });

  it('fail at once, and for good, where they say that they are longer than any may be', async () => {
    harness.server.will((response) => {
      const headers = { 'content-type': 'application/json', 'content-length': MODEL_ANSWER_MAX_BYTES + 1 };
      response.writeHead(200, headers).flushHeaders();
    });
    await assert.rejects(callOf('busy'), fails('OUTPUT_TOO_LARGE', /more than 8 MiB/));
  });
});
