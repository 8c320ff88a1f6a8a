import { ConnectionFailed } from '../../db/connection/connection-failed.ts';
import { ConnectionShareUsed } from '../../db/connection/connection-turns.ts';
import { logOutage } from '../../db/connection/database-outage.ts';
import { ServiceError } from '../../flow/errors.ts';
import { ThreadStarved } from '../../platform/json-schema/thread-pool.ts';
import { ObjectStoreUnavailable } from '../../platform/object-store/object-store.ts';
import { log } from '../../platform/observability/log.ts';
import { countRefusal } from '../../platform/observability/metrics/http-metrics.ts';
import { RetryLater } from './retry-later.ts';

/**
 * The failed request: `fields` identify it in the log; `mayBeStored`: an earlier statement may have stored its run.
 */
type FailedRequest = { requestId: string; fields: object; mayWrite: boolean; mayBeStored?: boolean };

/**
 * Turns any error into the one that the caller gets. A ServiceError stays as it is. The cause of every other error is
 * logged with the request id.
 */
export function toServiceError(
  error: unknown,
  { requestId, fields, mayWrite, mayBeStored = false }: FailedRequest,
): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof ConnectionShareUsed) {
    countRefusal('connections');
    return new RetryLater('RATE_LIMITED', mayWrite ? `${TOO_MANY_AT_ONCE} ${MAY_BE_MADE}` : TOO_MANY_AT_ONCE);
  }
  if (error instanceof ConnectionFailed && logOutage(error)) {
    const mayBeMade = mayWrite && (mayBeStored || error.mayBeCarriedOut);
    const [known, unknown] = sentencesOf(error);
    return new ServiceError('DATABASE_UNAVAILABLE', mayBeMade ? unknown : known);
  }
  if (error instanceof ThreadStarved) {
    log.warn({ ...fields, reason: error.message }, 'A request was refused, because the machine is too busy.');
    return new ServiceError('SERVICE_BUSY', TOO_BUSY);
  }
  if (error instanceof ObjectStoreUnavailable) {
    log.warn({ ...fields, reason: error.message }, 'A request could not read from the object store.');
    return new ServiceError('OBJECT_STORE_UNAVAILABLE', OBJECT_STORE_UNAVAILABLE);
  }
  log.error({ ...fields, err: error }, 'A request failed.');
  return new ServiceError('INTERNAL_ERROR', INTERNAL_ERROR, { request_id: requestId });
}

export const INTERNAL_ERROR = 'Something failed inside the service. Nothing is wrong with the request.';
const TOOK_TOO_LONG =
  'A question to the database took over 20 s, and was given up: ask for less, or try again later.';
export const DATABASE_UNAVAILABLE = 'The database does not answer: try again later.';
const TAKES_NO_CHANGES = 'The database takes no changes at the moment: try again later.';
const TOO_BUSY = 'The service is too busy to check a JSON Schema: send the request again.';
const TOO_MANY_AT_ONCE = 'The organization has too many requests under way at once: send fewer at a time.';
export const OBJECT_STORE_UNAVAILABLE =
  'The store of large requests and outputs does not answer: try again later. What was accepted goes on.';
const MAY_BE_MADE =
  'The change may have been made: check before you try again. Where an executionId is given, ask for that run, or repeat the request with the same Idempotency-Key; without one, the request sent again may be another run.';
export const CHANGES_UNKNOWN = `The database does not answer. ${MAY_BE_MADE}`;

/** Returns the messages for callers: when a change was not made, and when it may have been made. */
function sentencesOf({ refusesWrites, failure }: ConnectionFailed): [known: string, unknown: string] {
  if (refusesWrites) return [TAKES_NO_CHANGES, `${TAKES_NO_CHANGES} ${MAY_BE_MADE}`];
  if (failure === 'slow') return [TOOK_TOO_LONG, `${TOOK_TOO_LONG} ${MAY_BE_MADE}`];
  return [DATABASE_UNAVAILABLE, CHANGES_UNKNOWN];
}
