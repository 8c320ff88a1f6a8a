import { ConnectionFailed } from '../../db/connection/connection-failed.ts';
import { ServiceError } from '../../flow/errors.ts';

/** Which request met an error, for the log and for whoever reports it. */
type Met = { requestId: string; what: string; changes: boolean };

/**
 * The error that a caller gets: one that was made for callers as it is; for every other one what it comes to, of which the
 * log has the cause beside the request's id. `changes`: the request may have changed something before.
 */
export function toServiceError(error: unknown, { requestId, what, changes }: Met): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof ConnectionFailed) {
    console.error(`Request ${requestId} ${what} got no further: ${error.message}`);
    return new ServiceError('DATABASE_UNAVAILABLE', changes ? CHANGES_UNKNOWN : DATABASE_UNAVAILABLE);
  }
  console.error(`Request ${requestId} ${what} failed:`, error);
  return new ServiceError('INTERNAL_ERROR', INTERNAL_ERROR, { request_id: requestId });
}

export const INTERNAL_ERROR = 'Something failed inside the service. Nothing is wrong with the request.';
export const DATABASE_UNAVAILABLE = 'The database does not answer: try again later.';
export const CHANGES_UNKNOWN =
  'The database does not answer. What was asked for may have been done: look before you try again. Where an executionId is given, ask for that run.';
