// Races made certain: a request meets a change that is not committed yet.
import { sql } from 'kysely';
import type { Db, Tx } from '../../db/connect.ts';

/** Whether somebody waits for a lock in this database. */
export async function isWaiting(db: Db): Promise<boolean> {
  const { rows } = await sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows.length > 0;
}

/** Sends `request` after `change`, which is committed when the request waits for it, or has ended without. */
export async function duringTransaction<T>(
  db: Db,
  change: (tx: Tx) => Promise<unknown>,
  request: () => Promise<T>,
): Promise<T> {
  let ended = false;
  const answer = await db.transaction().execute(async (tx) => {
    await change(tx);
    const pending = request().finally(() => {
      ended = true;
    });
    pending.catch(() => undefined);
    while (!ended && !(await isWaiting(db)));
    return { pending };
  });
  return answer.pending;
}
