import { sql } from 'kysely';
import type { Db, Tx } from '../../db/connect.ts';
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

/** Lets a transaction keep its locks while the test does something else for long: PostgreSQL ends others after 30 s. */
export async function keepLocks(tx: Tx): Promise<void> {
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);
}
