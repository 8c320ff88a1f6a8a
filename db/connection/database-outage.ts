import { createOutageLog } from '../../platform/observability/outage-log.ts';
import { ConnectionFailed } from './connection-failed.ts';
import { ConnectionShareUsed } from './connection-turns.ts';

/** The log of the outages of the database, which all of a process share. */
export const databaseOutage = createOutageLog('The database');

/**
 * Returns whether an error says that the database gave no connection or no answer. Logs that as an outage, in the line that all
 * share, unless the owner's own statements had all the connections that it may have (operators need not know), or one statement
 * was slow, which has a line of its own.
 */
export function tellOutage(error: unknown): boolean {
  if (error instanceof ConnectionShareUsed) return true;
  if (!(error instanceof ConnectionFailed)) return false;
  if (error.failure === 'slow') return true;
  databaseOutage.failed(error.message, { inPart: error.refusesWrites });
  return true;
}
