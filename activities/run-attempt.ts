// The one wrapper around every activity: attempt, cancellation and heartbeat in; errors out as Temporal failures.
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { TemporalFailure } from '@temporalio/common';
import { isUnstorableValue } from '../db/connection/is-unstorable-value.ts';
import { ServiceError, sanitizeMessage } from '../flow/errors.ts';
import { KEPT_MAX_BYTES, type Progress, readProgress } from './attempt-progress.ts';
import { delayAfterLostWorkers } from './delay-after-lost-workers.ts';
import { logFault } from './log-fault.ts';
import { ModelUnavailable } from './model-unavailable.ts';

/** How soon a regular activity learns that it is cancelled. */
export const HEARTBEAT_INTERVAL_MS = 3_000;
/** A provider that refuses one call this often is not asked again. */
export const REFUSALS_MAX = 8;

const REFUSED_DELAY_MIN_MS = 1_000;
const REFUSED_DELAY_MAX_MS = 60_000;
const DRAINED_DELAY_MS = 100;

export type Attempt = {
  /** Counts from 1 what callers are told of: attempts that are known to have failed for the service's own reasons are left out. */
  number: number;
  /** Counts from 1 all that were begun. */
  begun: number;
  /** Whether a refusal of the provider is the last. */
  last: boolean;
  /** A local activity holds up its workflow task, and is to fail rather than to wait. */
  isLocal: boolean;
  /** Aborts when the activity is cancelled, or its worker has to end. */
  signal: AbortSignal;
  /** What an earlier attempt, or this one, has kept. */
  kept: unknown;
  /** Leaves a JSON value to the attempts after this one; answers false, and does not, when it is too large. */
  keep(value: object): boolean;
};

/**
 * Runs one attempt of an activity. A ServiceError becomes a failure that is not retried, its type the ErrorCode; so does
 * the last refusal of a provider, and a value that the database refuses. Anything else is the service's own trouble: it is
 * retried as the policies in workflows/activities.ts say, and counts for nothing. `isBlock`: a regular activity waits that
 * workers are lost under.
 */
export async function runAttempt<T>(
  work: (attempt: Attempt) => Promise<T>,
  { isBlock = false } = {},
): Promise<T> {
  const { info, cancellationSignal: signal, heartbeat } = Context.current();
  const progress = readProgress(info.heartbeatDetails);
  const attempt: Attempt = {
    number: info.isLocal ? 1 : info.attempt - (progress.ended - progress.refusals),
    begun: info.attempt,
    last: progress.refusals + 1 >= REFUSALS_MAX,
    isLocal: info.isLocal,
    signal,
    kept: progress.kept,
    keep(value) {
      if (info.isLocal || Buffer.byteLength(JSON.stringify(value)) > KEPT_MAX_BYTES) return false;
      progress.kept = value;
      attempt.kept = value;
      return true;
    },
  };
  const beat = info.isLocal ? undefined : setInterval(() => heartbeat(progress), HEARTBEAT_INTERVAL_MS);
  try {
    if (isBlock && !info.isLocal) delayAfterLostWorkers(progress, info.attempt);
    return await work(attempt);
  } catch (error) {
    if (!signal.aborted) logFault(error, info);
    progress.ended += 1;
    if (error instanceof ModelUnavailable) progress.refusals += 1;
    const failure = toFailure(error, progress, signal);
    // What is thrown as a failure is reported after the last heartbeat.
    if (!info.isLocal && failure instanceof ApplicationFailure && !failure.nonRetryable) heartbeat(progress);
    throw failure;
  } finally {
    clearInterval(beat);
  }
}

function toFailure(error: unknown, { refusals }: Progress, signal: AbortSignal): unknown {
  if (error instanceof ServiceError) return ApplicationFailure.nonRetryable(error.message, error.code);
  if (error instanceof ApplicationFailure) return error;
  if (isDrained(signal))
    return ApplicationFailure.create({
      type: 'WORKER_SHUTDOWN',
      message: 'The worker was asked to end before this was done.',
      nextRetryDelay: DRAINED_DELAY_MS,
    });
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
    console.error('The database refuses a value:', error);
    return ApplicationFailure.nonRetryable('It failed for a reason inside the service.', 'INTERNAL_ERROR');
  }
  if (error instanceof TemporalFailure || !(error instanceof Error)) return error;
  return ApplicationFailure.create({ message: sanitizeMessage(error.message), type: error.name });
}

/** Whether the activity was stopped because its worker ends, rather than cancelled. */
function isDrained({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof CancelledFailure && reason.message === 'WORKER_SHUTDOWN';
}
