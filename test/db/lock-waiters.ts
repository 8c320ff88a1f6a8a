import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { waitUntil } from '../wait-until.ts';

/** How many sessions of this database wait for a lock that another holds. */
export async function countLockWaiters(db: Db): Promise<number> {
  const { rows } = await sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows.length;
}

/** Resolves once so many do. */
export async function lockWaiters(db: Db, count: number): Promise<void> {
  await waitUntil(async () => (await countLockWaiters(db)) >= count);
}
