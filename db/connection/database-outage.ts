import { createOutageLog } from '../../observability/outage-log.ts';
import { ConnectionFailed } from './connection-failed.ts';
import { ConnectionShareUsed } from './connection-turns.ts';

/** The log of the outages of the database, which all of a process share. */
export const databaseOutage = createOutageLog('The database');

/**
 * Logs an outage in the line that all share. Returns true, and logs nothing, when an owner's own statements were in the way,
 * which is no news for operators; false when the error is something else.
 */
export function tellOutage(error: unknown): boolean {
  if (error instanceof ConnectionShareUsed) return true;
  if (!(error instanceof ConnectionFailed)) return false;
  databaseOutage.failed(error.message, error.refusesWrites);
  return true;
}
