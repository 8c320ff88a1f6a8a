import { createOutageLog } from '../../platform/observability/outage-log.ts';
import { ConnectionFailed } from './connection-failed.ts';
import { ConnectionShareUsed } from './connection-turns.ts';

/** The log of database outages, shared by the whole process. */
export const databaseOutage = createOutageLog('The database');

/**
 * Logs a database outage, in one line for all; returns whether the error is an outage. Two outages are not logged
 * here: the organization's own statements used all its connections (no concern of operators), or one statement was
 * slow (logged elsewhere).
 */
export function logOutage(error: unknown): boolean {
  if (error instanceof ConnectionShareUsed) return true;
  if (!(error instanceof ConnectionFailed)) return false;
  if (error.failure === 'slow') return true;
  databaseOutage.failed(error.message, { inPart: error.refusesWrites });
  return true;
}
