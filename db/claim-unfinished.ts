// What a reconciler looks at: rows that have not ended and nobody has looked at for a while.
import { sql } from 'kysely';
import type { Db } from './connect.ts';

const ID_COLUMNS = { run: 'execution_id', test_run: 'id' };

/**
 * Takes up to `limit` rows that are `started`, older than `quietSeconds` and not taken within that time; answers their
 * ids. Processes that call this at the same time take different rows.
 */
export async function claimUnfinished(
  db: Db,
  table: keyof typeof ID_COLUMNS,
  { quietSeconds, limit }: { quietSeconds: number; limit: number },
): Promise<string[]> {
  const id = sql.ref(ID_COLUMNS[table]);
  const { rows } = await sql<{ id: string }>`
    update ${sql.table(table)} set reconciled_at = now()
    where ${id} in (
      select ${id} from ${sql.table(table)}
      where status = 'started' and coalesce(reconciled_at, started_at) <= now() - ${quietSeconds} * interval '1 second'
      order by coalesce(reconciled_at, started_at) limit ${limit} for update skip locked
    )
    returning ${id} as id
  `.execute(db);
  return rows.map((row) => row.id);
}
