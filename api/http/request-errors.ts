import { type ErrorCode, ServiceError } from '../../flow/errors.ts';
import { PermitRejected } from '../../platform/limits/fair-queue.ts';
import { countRefusal } from '../../platform/observability/metrics/http-metrics.ts';

/** A caller is not asked to wait for longer: the queue may be empty by then. */
const RETRY_AFTER_MAX_SECONDS = 90;
/** The default Retry-After. */
export const RETRY_AFTER_SECONDS = 5;

/** Rejects a request that may be repeated after `retryAfterSeconds`, sent as Retry-After. */
export class RetryLater extends ServiceError {
  readonly retryAfterSeconds: number;

  constructor(code: ErrorCode, message: string, retryAfterSeconds = RETRY_AFTER_SECONDS) {
    super(code, message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Adds Retry-After to a RATE_LIMITED error; returns other errors unchanged. */
export function toRetryLater(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'RATE_LIMITED') return error;
  return new RetryLater(error.code, error.message);
}

/** The error for a caller who has gone: nobody reads it. */
export function callerGone(): ServiceError {
  return new ServiceError('REQUEST_TIMEOUT', 'The caller has gone.');
}

/**
 * Converts a rejection by a gate: SERVICE_BUSY when the requests of all organizations fill its queue, otherwise RATE_LIMITED with
 * Retry-After. `limit` names the gate in the metric of refusals. The messages say what was not done.
 */
export function toRejection(
  { reason, scope, retryAfterMs }: PermitRejected,
  limit: string,
  messages: { busy: string; full: string; deadline: string },
): ServiceError {
  if (reason === 'full' && scope === 'all') return new ServiceError('SERVICE_BUSY', messages.busy);
  countRefusal(limit);
  const seconds = Math.min(Math.ceil(retryAfterMs / 1_000), RETRY_AFTER_MAX_SECONDS);
  return new RetryLater('RATE_LIMITED', `${messages[reason]}: try again in ${seconds} s.`, seconds);
}

const TOO_MANY_LARGE = 'Too many large requests and answers are under way';
const LARGE_MESSAGES = { busy: `${TOO_MANY_LARGE}.`, full: TOO_MANY_LARGE, deadline: TOO_MANY_LARGE };

/** The error for a large request or answer that was queued for too long, or behind too many others. */
export function tooManyLarge(
  rejected = new PermitRejected('full', 'key', RETRY_AFTER_SECONDS * 1_000),
): ServiceError {
  return toRejection(rejected, 'bytes', LARGE_MESSAGES);
}

/** Makes the 422 for one wrong field of a request. */
export function invalidField(field: string, message: string): ServiceError {
  return new ServiceError('VALIDATION_ERROR', `${field}: ${message}`, { errors: [{ field, message }] });
}

/** Makes the 422 for a cursor that this list did not issue. */
export function unknownCursor(): ServiceError {
  return invalidField('cursor', 'must be a nextCursor of this list');
}
