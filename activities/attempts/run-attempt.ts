// The wrapper of every activity: hands it its attempt, heartbeat and cancellation, and turns errors into Temporal failures.
import { ApplicationFailure, Context } from '@temporalio/activity';
import { TemporalFailure } from '@temporalio/common';
import { isUnstorableValue } from '../../db/connection/database-errors.ts';
import type { Refusal } from '../../db/runs/blocks-under-way.ts';
import { ServiceError, sanitizeMessage } from '../../flow/errors.ts';
import { ATTEMPTS_OF_A_DAY, MODEL_RETRIES_MAX, RETRY_MAX_MS, RETRY_MIN_MS } from '../../flow/limits.ts';
import type { EarlierAttempt } from '../../flow/model-call.ts';
import { CANCELLED } from '../../flow/run.ts';
import { PermitRejected } from '../../platform/limits/fair-queue.ts';
import { log, withLogContext } from '../../platform/observability/log.ts';
import { CallStopped } from '../cancellations.ts';
import { SandboxUnavailable } from '../code/sandbox-errors.ts';
import { isKeepable, type Progress, readProgress } from './attempt-progress.ts';
import { delayAfterLostWorkers } from './delay-after-lost-workers.ts';
import { describeActivity } from './describe-activity.ts';
import { isDrained } from './is-drained.ts';
import { logFault } from './log-fault.ts';
import { ModelUnavailable } from './model-unavailable.ts';
import { isRescheduled, reschedule } from './reschedule.ts';
import { workerShutdown } from './worker-shutdown.ts';

/** Heartbeats in the time after which the engine takes an attempt without them for lost. */
const HEARTBEATS_PER_TIMEOUT = 3;
/** After this many refusals the provider is not asked again. */
export const REFUSALS_MAX = MODEL_RETRIES_MAX + 1;

const NO_SANDBOX =
  'No process could run the code: it was killed or could not start, as where memory is short.';
/** How long an attempt waits at a gate: a local one holds up its workflow task. Model calls in regular activities just wait. */
const WAIT_MAX_MS = 2_000;
const REFUSED_DELAY_MIN_MS = 1_000;
const REFUSED_DELAY_MAX_MS = 60_000;

export type Attempt = {
  /** The attempt's number as callers see it, from 1; attempts known to have failed for the service's own reasons do not count. */
  number: number;
  /** The attempt's number among all that were begun, from 1. */
  begun: number;
  /** How often the provider has refused before, or no process could run the code. */
  refusals: number;
  /** How many of these refusals were answers that could not be read. */
  unreadable: number;
  /** Whether this is a local activity: it holds up its workflow task, so it fails rather than wait for the database. */
  isLocal: boolean;
  /** How long it waits for a permit. Afterwards it is rescheduled. */
  waitMaxMs: number;
  /** Aborts when the activity is cancelled, its worker has to stop, or, for a block, its call was cancelled or has failed. */
  signal: AbortSignal;
  /** The value last kept by this attempt or an earlier one. */
  kept: unknown;
  /** Keeps a JSON value for later attempts; returns false, and keeps nothing, when it is too large. */
  keep(value: object): boolean;
};

type AttemptOptions = {
  isBlock?: boolean;
  earlier?: EarlierAttempt | undefined;
  onRefusal?: (attempt: Attempt, refusal: Refusal) => Promise<void>;
};

/**
 * Runs one attempt of an activity. A ServiceError becomes a failure that is not retried, with the ErrorCode as its type;
 * so do the last refusal by a provider and a value that the database refuses. Any other error is the service's own: it is
 * retried under the policies in workflows/activities.ts, and does not count. `isBlock`: a regular activity, delayed after
 * repeated losses of its workers. `earlier`: the state of the local attempt that this activity repeats. `onRefusal` is called
 * after a refusal; its own failure changes nothing.
 */
export function runAttempt<T>(
  work: (attempt: Attempt) => Promise<T>,
  options: AttemptOptions = {},
): Promise<T> {
  return withLogContext(describeActivity(Context.current().info), () => tryOnce(work, options));
}

async function tryOnce<T>(
  work: (attempt: Attempt) => Promise<T>,
  { isBlock = false, earlier, onRefusal }: AttemptOptions,
): Promise<T> {
  const { info, cancellationSignal: signal, heartbeat } = Context.current();
  const startedAt = performance.now();
  const progress = readProgress(
    info.heartbeatDetails ?? (earlier?.kept ? { kept: earlier.kept } : undefined),
  );
  const begun = info.attempt - progress.rescheduled;
  const number = info.isLocal ? 1 : progress.lostInTask + info.attempt - (progress.ended - progress.refusals);
  const attempt: Attempt = {
    number,
    begun: (earlier ? 1 : 0) + begun,
    refusals: progress.refusals,
    unreadable: progress.unreadable,
    isLocal: info.isLocal,
    waitMaxMs: isBlock && !info.isLocal ? Infinity : WAIT_MAX_MS,
    signal,
    kept: progress.kept,
    keep(value) {
      if (info.isLocal || !isKeepable(value)) return false;
      progress.kept = value;
      attempt.kept = value;
      heartbeat(progress);
      return true;
    },
  };
  const { heartbeatTimeoutMs } = info;
  const beat =
    heartbeatTimeoutMs && setInterval(() => heartbeat(progress), heartbeatTimeoutMs / HEARTBEATS_PER_TIMEOUT);
  try {
    if (isBlock && !info.isLocal) delayAfterLostWorkers(progress, info.attempt);
    return await work(attempt);
  } catch (error) {
    if (!signal.aborted) logFault(error, info);
    progress.ended += 1;
    progress.lostInTask += attempt.number - number;
    if (isRescheduled(error)) progress.rescheduled += 1;
    // Lost attempts do not count. A local attempt does not know how many were rescheduled, so the engine's bound is its own.
    else if (!info.isLocal && progress.ended - progress.rescheduled >= ATTEMPTS_OF_A_DAY)
      throw giveUp(toFailure(error, progress, signal));
    const isRefused =
      error instanceof ModelUnavailable || (error instanceof SandboxUnavailable && !signal.aborted);
    if (isRefused) progress.refusals += 1;
    if (error instanceof ModelUnavailable && error.isUnreadable) progress.unreadable += 1;
    // A local attempt knows its number from the engine alone.
    if (info.isLocal && isRefused) attempt.number = info.attempt;
    const failure = toFailure(error, progress, signal);
    if (failure instanceof ApplicationFailure && !failure.nonRetryable) {
      if (onRefusal && isRefused)
        await onRefusal(attempt, {
          ...(error instanceof ModelUnavailable
            ? { code: 'MODEL_UNAVAILABLE', message: failure.message }
            : { code: 'INTERNAL_ERROR', message: NO_SANDBOX }),
          tookMs: (error as Partial<ModelUnavailable>).tookMs ?? performance.now() - startedAt,
          retryInMs:
            (failure.nextRetryDelay as number | null) ??
            Math.min(RETRY_MIN_MS * 2 ** (info.attempt - 1), RETRY_MAX_MS),
        }).catch(() => undefined);
      // A thrown failure is reported after the last heartbeat, so the progress has to be in that one.
      if (!info.isLocal) heartbeat(progress);
    }
    throw failure;
  } finally {
    if (beat) clearInterval(beat);
  }
}

/** Makes a failure the last one: the engine's own bound is for attempts that found no slot, too. */
function giveUp(failure: unknown): unknown {
  if (!(failure instanceof ApplicationFailure)) return failure;
  const { message, type } = failure;
  return ApplicationFailure.nonRetryable(message, type);
}

function toFailure(error: unknown, { refusals, rescheduled }: Progress, signal: AbortSignal): unknown {
  if (error instanceof ServiceError) return ApplicationFailure.nonRetryable(error.message, error.code);
  if (error instanceof ApplicationFailure) return error;
  if (error instanceof CallStopped) return ApplicationFailure.nonRetryable(CANCELLED.message, CANCELLED.code);
  if (isDrained(signal)) return workerShutdown('The worker was stopped before the activity was done.');
  if (error instanceof PermitRejected) {
    const { isLocal, attempt } = Context.current().info;
    return reschedule(error, { isLocal, earlier: (isLocal ? attempt : rescheduled) - 1 });
  }
  if (error instanceof ModelUnavailable) {
    const delay = Math.min(REFUSED_DELAY_MIN_MS * 2 ** (refusals - 1), REFUSED_DELAY_MAX_MS);
    return ApplicationFailure.create({
      message: sanitizeMessage(error.message),
      type: 'MODEL_UNAVAILABLE',
      nextRetryDelay: error.retryAfterMs ?? delay,
      nonRetryable: refusals >= REFUSALS_MAX,
    });
  }
  if (isUnstorableValue(error)) {
    log.error({ err: error }, 'The database refuses a value.');
    return ApplicationFailure.nonRetryable('It failed for a reason inside the service.', 'INTERNAL_ERROR');
  }
  if (error instanceof TemporalFailure || !(error instanceof Error)) return error;
  return ApplicationFailure.create({ message: sanitizeMessage(error.message), type: error.name });
}
