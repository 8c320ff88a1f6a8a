import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connect.ts';

/**
 * A row that has not ended; `unheard`: it was cancelled over five minutes ago. `startedAt`, as precise as PostgreSQL
 * stores it, and `id` say where the next page begins.
 */
export type UnfinishedRow = {
  id: string;
  continues: string | null;
  cancelled: boolean;
  unheard: boolean;
  startedAt: string;
};

const CANCELLATION = sql`cancel_requested_at is not null as cancelled,
  coalesce(cancel_requested_at < now() - interval '5 minutes', false) as unheard`;
const COLUMNS = {
  run: sql`execution_id as id, continues, ${CANCELLATION}`,
  test_run: sql`id, null as continues, ${CANCELLATION}`,
};
const IDS: { [table in keyof typeof COLUMNS]: RawBuilder<unknown> } = {
  run: sql`execution_id`,
  test_run: sql`id`,
};

/**
 * Lists up to `limit` rows that are `started` and older than `quietSeconds`, the oldest first, starting after
 * `after`.
 */
export async function listUnfinished(
  db: Db,
  table: keyof typeof COLUMNS,
  { quietSeconds, after, limit }: { quietSeconds: number; after?: UnfinishedRow | undefined; limit: number },
): Promise<UnfinishedRow[]> {
  const { rows } = await sql<UnfinishedRow>`
    select ${COLUMNS[table]}, started_at::text as "startedAt" from ${sql.table(table)}
    where status = 'started' and started_at <= now() - ${quietSeconds} * interval '1 second'
      ${after ? sql`and (started_at, ${IDS[table]}) > (${after.startedAt}::timestamptz, ${after.id}::uuid)` : sql``}
    order by started_at, ${IDS[table]} limit ${limit}`.execute(db);
  return rows;
}
