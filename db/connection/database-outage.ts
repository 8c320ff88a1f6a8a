import { createOutageLog } from '../../observability/outage-log.ts';
import { ConnectionFailed } from './connection-failed.ts';

/** The log of the outages of the database, which all of a process share. */
export const databaseOutage = createOutageLog('The database');

/** Logs an outage in the line that all share. Returns false, and logs nothing, when the error is something else. */
export function tellOutage(error: unknown): boolean {
  if (!(error instanceof ConnectionFailed)) return false;
  databaseOutage.failed(error.message);
  return true;
}
