import assert from 'node:assert/strict';
import { type ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { countLostWorkers } from '../../../activities/attempts/delay-after-lost-workers.ts';
import { ModelUnavailable } from '../../../activities/attempts/model-unavailable.ts';
import { type Attempt, REFUSALS_MAX } from '../../../activities/attempts/run-attempt.ts';
import { SandboxUnavailable } from '../../../activities/code/sandbox-errors.ts';
import type { Refusal } from '../../../db/runs/blocks-under-way.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { ATTEMPTS_OF_A_DAY } from '../../../flow/limits.ts';
import { PermitRejected } from '../../../platform/limits/fair-queue.ts';
import { captureLog } from '../../capture-log.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { attemptOf } from '../attempt-of.ts';
import { Activity, type Work } from './repeated-activity.ts';

const refuse: Work = () => Promise.reject(new ModelUnavailable('busy'));
const breakDown: Work = () => Promise.reject(new Error('connect ECONNREFUSED'));
const OF_BLOCK = { isBlock: true };
const DELAYED = 'DELAYED_AFTER_LOST_WORKERS';

describe('an attempt of an activity', () => {
  let activity: Activity;
  beforeEach(() => {
    activity = new Activity();
  });

  it('for whose code there was no process counts, is told with its delay, and is a warning without a stack', async () => {
    const told: [number, string, number][] = [];
    const onRefusal = async ({ number }: Attempt, { message, retryInMs }: Refusal) => {
      told.push([number, message.split(':')[0] ?? '', retryInMs]);
    };
    const captured = captureLog();
    const kill: Work = () => Promise.reject(new SandboxUnavailable('ended (SIGKILL)'));
    for (let time = 0; time < 3; time += 1) await activity.attempt(kill, { isBlock: true, onRefusal });
    captured.stop();
    const message = 'No process could run the code';
    assert.deepEqual(
      told,
      [200, 400, 800].map((delay, index) => [index + 1, message, delay]),
    );
    assert.deepEqual(
      captured.lines.map(({ level, reason, err }) => [level, reason, err]),
      Array.from({ length: 3 }, () => ['warn', 'ended (SIGKILL)', undefined]),
    );
  });

  const reject: Work = () => Promise.reject(new PermitRejected('deadline', 'key', 1_000));

  it('that gets no permit does not count, however often; other failures are repeated for a day', async () => {
    const metrics = captureMetrics();
    for (let time = 0; time < ATTEMPTS_OF_A_DAY + 10; time += 1) {
      const { type, nonRetryable } = await activity.attempt(reject);
      assert.deepEqual([type, nonRetryable], ['WAITS_FOR_PERMIT', false]);
    }
    assert.deepEqual(await metrics.read('weir.attempts.rescheduled'), { '': ATTEMPTS_OF_A_DAY + 10 });
    metrics.stop();
    let begun: Attempt | undefined;
    const note: Work = async (attempt) => {
      begun = attempt;
      throw new Error('connect ECONNREFUSED');
    };
    assert.equal((await activity.attempt(note)).nonRetryable, false);
    assert.deepEqual([begun?.begun, begun?.number], [1, 1]);
    for (let time = 2; time < ATTEMPTS_OF_A_DAY; time += 1)
      assert.equal((await activity.attempt(breakDown)).nonRetryable, false, `after ${time}`);
    assert.equal((await activity.attempt(breakDown)).nonRetryable, true);
  });

  it('that gets no permit and is local is rescheduled, later each time, and is no fault', async () => {
    const captured = captureLog();
    const local = new Activity({ isLocal: true });
    const failures: ApplicationFailure[] = [];
    for (let time = 0; time < 10; time += 1) failures.push(await local.attempt(reject));
    captured.stop();
    const delays = failures.map(({ nextRetryDelay }) => Number(nextRetryDelay));
    // A shorter one would keep the workflow task.
    assert(Math.min(...delays) > 1_000, `${delays}`);
    assert.deepEqual([delays, delays.at(-1)], [delays.toSorted((a, b) => a - b), 30_000]);
    assert(failures.every(({ type, nonRetryable }) => type === 'WAITS_FOR_PERMIT' && !nonRetryable));
    assert.deepEqual(captured.lines, []);
  });

  it('that gets no permit and is regular comes back when the gate suggests', async () => {
    const later: Work = () => Promise.reject(new PermitRejected('full', 'key', 123_000));
    for (let time = 0; time < 3; time += 1)
      assert.equal((await activity.attempt(later)).nextRetryDelay, 123_000);
  });

  it('counts what the provider refuses, and nothing that fails for reasons of the service', async () => {
    for (let refused = 1; refused < REFUSALS_MAX; refused += 1) {
      for (let broken = 0; broken < REFUSALS_MAX; broken += 1)
        assert.notEqual((await activity.attempt(breakDown)).nonRetryable, true);
      assert.notEqual((await activity.attempt(refuse)).nonRetryable, true, `refusal ${refused}`);
    }
    const { type, nonRetryable } = await activity.attempt(refuse);
    assert.deepEqual([type, nonRetryable], ['MODEL_UNAVAILABLE', true]);
  });

  it('says how often the provider has refused, and which attempt callers are told of', async () => {
    const seen: [number, number][] = [];
    for (let refused = 0; refused < REFUSALS_MAX; refused += 1) {
      await activity.attempt(breakDown);
      await activity.attempt((attempt) => {
        seen.push([attempt.number, attempt.refusals]);
        return refuse(attempt);
      });
    }
    assert.deepEqual(
      seen,
      seen.map((_, index) => [index + 1, index]),
    );
  });

  it('tells callers of one that was lost, for it may have asked the provider, and does not count it as refused', async () => {
    for (let lost = 0; lost < REFUSALS_MAX; lost += 1) activity.lose();
    await activity.attempt((attempt) => {
      assert.deepEqual([attempt.number, attempt.refusals], [REFUSALS_MAX + 1, 0]);
      return refuse(attempt);
    });
  });

  it('tells callers of one that was lost with its workflow task, also after refusals', async () => {
    const seen: number[] = [];
    const note: Work = (attempt) => {
      if (attempt.begun === 1) attempt.number += 1;
      seen.push(attempt.number);
      return refuse(attempt);
    };
    for (const work of [note, breakDown, note, note]) await activity.attempt(work);
    assert.deepEqual(seen, [2, 3, 4]);
  });

  it('says how many answers could not be read, among refusals and attempts that were lost', async () => {
    const garble: Work = () => Promise.reject(new ModelUnavailable('garbled', { isUnreadable: true }));
    for (const work of [garble, refuse, breakDown, garble]) {
      await activity.attempt(work);
      activity.lose();
    }
    await activity.attempt((attempt) => {
      assert.deepEqual([attempt.refusals, attempt.unreadable], [3, 2]);
      return refuse(attempt);
    });
  });

  it('waits longer after each refusal, and as long as the provider asks', async () => {
    const delays: unknown[] = [];
    for (let refused = 1; refused < REFUSALS_MAX; refused += 1)
      delays.push((await activity.attempt(refuse)).nextRetryDelay);
    assert.deepEqual(delays, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
    const asked = await new Activity().attempt(() =>
      Promise.reject(new ModelUnavailable('busy', { retryAfterMs: 7_000 })),
    );
    assert.equal(asked.nextRetryDelay, 7_000);
  });

  it('is not repeated after an error that was made for callers', async () => {
    const failure = await activity.attempt(() => Promise.reject(new ServiceError('MODEL_REFUSED', 'No.')));
    assert.deepEqual([failure.type, failure.message, failure.nonRetryable], ['MODEL_REFUSED', 'No.', true]);
  });

  it('hands what it kept to the attempts after it', async () => {
    await activity.attempt((attempt) => {
      attempt.keep({ output: 'paid' });
      return breakDown(attempt);
    });
    await activity.attempt(breakDown);
    activity.lose();
    await activity.attempt((attempt) => {
      assert.deepEqual(attempt.kept, { output: 'paid' });
      return breakDown(attempt);
    });
  });

  it('reports what it keeps at once, so that the engine has it when the worker is lost', async () => {
    await activity.attempt((attempt) => {
      attempt.keep({ output: 'paid' });
      assert.deepEqual(activity.details?.kept, { output: 'paid' });
      return breakDown(attempt);
    });
  });

  it('keeps nothing that is too large for a heartbeat', async () => {
    await activity.attempt((attempt) => {
      attempt.keep({ output: 'x'.repeat(300_000) });
      return breakDown(attempt);
    });
    assert.equal(activity.details?.kept, undefined);
  });

  it('that a stopping worker cuts off is repeated at once by another, and counts for nothing', async () => {
    activity.stop.abort(new CancelledFailure('WORKER_SHUTDOWN'));
    const failure = await activity.attempt(async ({ signal }) => signal.throwIfAborted(), OF_BLOCK);
    assert.deepEqual([failure.type, failure.nonRetryable ?? false], ['WORKER_SHUTDOWN', false]);
    const none = { refusals: 0, unreadable: 0, rescheduled: 0, lostInTask: 0, heldAfter: 0 };
    assert.deepEqual(activity.details, { ...none, ended: 1 });
  });

  describe('under which workers are lost', () => {
    it('waits longer and longer before it runs again, up to 10 minutes, and does not fail', async () => {
      const waits: unknown[] = [];
      let ran = 0;
      while (waits.length < 20) {
        const before = activity.details;
        const { type, nextRetryDelay, nonRetryable } = await activity.attempt((attempt) => {
          ran += 1;
          return breakDown(attempt);
        }, OF_BLOCK);
        assert.notEqual(nonRetryable, true);
        // An attempt that ran was killed before it could report.
        if (type === 'Error') activity.details = before;
        if (type === DELAYED) waits.push(nextRetryDelay);
      }
      assert.equal(ran, 25);
      assert.deepEqual(
        waits,
        [1, 2, 4, 8, ...Array.from({ length: 16 }, () => 10)].map((minutes) => minutes * 60_000),
      );
    });

    it('waits as long where it is local, once each time that its workflow task begins anew', () => {
      const begin = (lost: number, begun: number) => {
        const attempt = { ...attemptOf(begun), isLocal: true };
        try {
          countLostWorkers(attempt, lost);
        } catch (error) {
          return (error as ApplicationFailure).nextRetryDelay;
        }
        return `attempt ${attempt.number}`;
      };
      assert.deepEqual(
        [begin(0, 1), begin(5, 1), begin(6, 1), begin(6, 2), begin(50, 1)],
        ['attempt 1', 'attempt 6', 60_000, 'attempt 7', 600_000],
      );
    });

    it('is logged to wait, with its run', async () => {
      const { lines, stop } = captureLog();
      try {
        activity.attempts = 6;
        await activity.attempt(breakDown, OF_BLOCK);
      } finally {
        stop();
      }
      assert.deepEqual(
        lines.map(({ level, workflow_id, activity, msg }) => [level, workflow_id, activity, msg]),
        [['warn', 'run-1', 'callModel', 'The worker was lost during 6 attempts: the next one is delayed.']],
      );
    });

    it('is not delayed for what failed otherwise', async () => {
      for (let failed = 0; failed < 50; failed += 1)
        assert.equal((await activity.attempt(breakDown, OF_BLOCK)).type, 'Error');
      activity.lose();
      assert.equal((await activity.attempt(breakDown, OF_BLOCK)).type, 'Error');
    });
  });
});
