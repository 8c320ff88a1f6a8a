import { connect } from '../../db/connect.ts';
import { listLockHolders, listLongWaiting } from '../../db/list-lock-holders.ts';
import { describe, failure, type Result } from './finding.ts';

/** Statements of Weir hold their locks for less. */
const LONG_SECONDS = 3;
const MEND =
  'End what holds the lock where it was forgotten, as its user or a superuser: select pg_terminate_backend(<its process>).';

/** Looks whether statements wait long for a lock of a table or row, and names the sessions that hold it. */
export async function checkLocks(databaseUrl: string, timeoutMs: number): Promise<Result[]> {
  const db = connect(databaseUrl, 1, timeoutMs);
  try {
    const waiting = await listLongWaiting(db, LONG_SECONDS);
    const holders = await listLockHolders(db, waiting);
    if (holders.length === 0) return [];
    const count = waiting.length === 1 ? '1 statement waits' : `${waiting.length} statements wait`;
    const message = `${count} for more than ${LONG_SECONDS} s for a lock of ${holders.join('; ')}.`;
    return [failure(message, MEND)];
  } catch (error) {
    return [failure(`Locks could not be looked at: ${describe(error)}.`, 'Repeat weir doctor.')];
  } finally {
    db.destroy().catch(() => undefined);
  }
}
