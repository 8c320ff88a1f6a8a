// The one wrapper around every activity: attempt, cancellation and heartbeat in; errors out as Temporal failures.
import { ApplicationFailure, Context } from '@temporalio/activity';
import { TemporalFailure } from '@temporalio/common';
import { ServiceError, soundMessage } from '../flow/errors.ts';
import { ModelUnavailable } from './call-model.ts';

/** How soon a regular activity learns that it is cancelled. */
export const HEARTBEAT_INTERVAL_MS = 3_000;

/** `number` counts from 1; after the `last` one the engine gives up. */
export type Attempt = { number: number; last: boolean };

/**
 * Runs one attempt of an activity. A ServiceError becomes a failure that is not retried, its type the ErrorCode;
 * anything else is retried as the policies in workflows/activities.ts say, after the provider's Retry-After if it sent one.
 */
export async function attempted<T>(
  work: (attempt: { attempt: Attempt; signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const { info, cancellationSignal: signal, heartbeat } = Context.current();
  const limit = info.retryPolicy?.maximumAttempts;
  const attempt = { number: info.attempt, last: limit !== undefined && info.attempt >= limit };
  const beat = info.isLocal ? undefined : setInterval(() => heartbeat(), HEARTBEAT_INTERVAL_MS);
  try {
    return await work({ attempt, signal });
  } catch (error) {
    throw toFailure(error);
  } finally {
    clearInterval(beat);
  }
}

function toFailure(error: unknown): unknown {
  if (error instanceof ServiceError) return ApplicationFailure.nonRetryable(error.message, error.code);
  if (error instanceof ModelUnavailable)
    return ApplicationFailure.create({
      message: soundMessage(error.message),
      type: 'MODEL_UNAVAILABLE',
      ...(error.retryAfterMs !== undefined && { nextRetryDelay: error.retryAfterMs }),
    });
  if (error instanceof TemporalFailure || !(error instanceof Error)) return error;
  return ApplicationFailure.create({ message: soundMessage(error.message), type: error.name });
}
