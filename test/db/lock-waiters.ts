import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { waitUntil } from '../wait-until.ts';

/** Counts the sessions of this database that wait for a lock which another holds. */
export async function countLockWaiters(db: Db): Promise<number> {
  const { rows } = await sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows.length;
}

/** Waits until `count` sessions do. */
export async function lockWaiters(db: Db, count: number): Promise<void> {
  await waitUntil(async () => (await countLockWaiters(db)) >= count);
}
