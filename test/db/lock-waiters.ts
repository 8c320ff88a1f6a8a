import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';

/** Resolves once `count` sessions of this database wait for a lock that another holds. */
export async function lockWaiters(db: Db, count: number): Promise<void> {
  for (;;) {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    if (rows.length >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
