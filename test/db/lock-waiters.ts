import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { waitUntil } from '../wait-until.ts';

/** Lists the sessions of this database that wait for a lock which another holds. */
async function listLockWaiters(db: Db): Promise<{ pid: number }[]> {
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows;
}

/** Counts them. */
export async function countLockWaiters(db: Db): Promise<number> {
  return (await listLockWaiters(db)).length;
}

/** Waits until `count` sessions do. */
export async function lockWaiters(db: Db, count: number): Promise<void> {
  await waitUntil(async () => (await countLockWaiters(db)) >= count);
}

/** Ends the sessions that wait: what they were asked for is not carried out. */
export async function endLockWaiters(db: Db): Promise<void> {
  for (const { pid } of await listLockWaiters(db))
    await sql`select pg_terminate_backend(${pid}::int)`.execute(db);
}
