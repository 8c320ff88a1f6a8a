import { ConnectionFailed } from '../../db/connection/connection-failed.ts';
import { ServiceError } from '../../flow/errors.ts';

/** The request that failed: `line` is its method and URL. */
type FailedRequest = { requestId: string; line: string; mayWrite: boolean };

/**
 * Turns any error into the one that the caller gets. A ServiceError stays as it is; the cause of every other error goes to
 * the log, beside the request's id.
 */
export function toServiceError(error: unknown, { requestId, line, mayWrite }: FailedRequest): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof ConnectionFailed) {
    console.error(`Request ${requestId} ${line} could not reach the database: ${error.message}`);
    return new ServiceError('DATABASE_UNAVAILABLE', mayWrite ? CHANGES_UNKNOWN : DATABASE_UNAVAILABLE);
  }
  console.error(`Request ${requestId} ${line} failed:`, error);
  return new ServiceError('INTERNAL_ERROR', INTERNAL_ERROR, { request_id: requestId });
}

export const INTERNAL_ERROR = 'Something failed inside the service. Nothing is wrong with the request.';
export const DATABASE_UNAVAILABLE = 'The database does not answer: try again later.';
export const CHANGES_UNKNOWN =
  'The database does not answer. The change may have been made: check before you try again. Where an executionId is given, ask for that run, or repeat the request with the same Idempotency-Key; without one, the request sent again may be another run.';
