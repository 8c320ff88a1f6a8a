// What the reconcilers walk over: rows that have not ended.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connect.ts';

/** `startedAt`, as exact as PostgreSQL keeps it, and `id` say where a walk goes on. */
export type Unfinished = { id: string; continues: string | null; cancelled: boolean; startedAt: string };

const COLUMNS = {
  run: sql`execution_id as id, continues, cancel_requested_at is not null as cancelled`,
  test_run: sql`id, null as continues, cancel_requested_at is not null as cancelled`,
};
const IDS: { [table in keyof typeof COLUMNS]: RawBuilder<unknown> } = {
  run: sql`execution_id`,
  test_run: sql`id`,
};

/** Up to `limit` rows that are `started` and older than `quietSeconds`, the oldest first, beginning after `after`. */
export async function listUnfinished(
  db: Db,
  table: keyof typeof COLUMNS,
  { quietSeconds, after, limit }: { quietSeconds: number; after?: Unfinished | undefined; limit: number },
): Promise<Unfinished[]> {
  const { rows } = await sql<Unfinished>`
    select ${COLUMNS[table]}, started_at::text as "startedAt" from ${sql.table(table)}
    where status = 'started' and started_at <= now() - ${quietSeconds} * interval '1 second'
      ${after ? sql`and (started_at, ${IDS[table]}) > (${after.startedAt}::timestamptz, ${after.id}::uuid)` : sql``}
    order by started_at, ${IDS[table]} limit ${limit}`.execute(db);
  return rows;
}
