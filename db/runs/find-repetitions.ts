import { sql } from 'kysely';
import type { Db } from '../connect.ts';

/** Finds which of these runs were run again, each with one run that did so. */
export async function findRepetitions(db: Db, executionIds: string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('run')
    .select(['repeats', 'execution_id'])
    .where('repeats', 'is not', null)
    .where('repeats', '=', sql<string>`any(${executionIds}::uuid[])`)
    .execute();
  return new Map(rows.map(({ repeats, execution_id }) => [repeats as string, execution_id]));
}
