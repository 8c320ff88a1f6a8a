import type { Db } from '../connect.ts';

/** Filters these calls to stored ones. */
export async function listStoredCalls(db: Db, callIds: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('run')
    .select('execution_id')
    .where('execution_id', 'in', callIds)
    .execute();
  return new Set(rows.map((row) => row.execution_id));
}
