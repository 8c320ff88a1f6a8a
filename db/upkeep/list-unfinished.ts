import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connect.ts';

const PARKED_MAX = 10_000;

/** The backlog in the database: `parkedRuns` are counted up to 10,000. */
type Backlog = { oldestDueSeconds: number; parkedRuns: number; reservedMicrocredits: number };

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

/**
 * Returns the age of the most overdue delivery, and the numbers of parked runs and reservations. Deliveries and runs cost
 * one index lookup each. Each block in flight has one reservation.
 */
export async function findBacklog(db: Db): Promise<Backlog> {
  const { rows } = await sql<{ late: number | null; parked: number; reserved: number }>`
    select
      (select extract(epoch from now() - coalesce(next_attempt_at, created_at))::float8 from webhook_delivery
        where status in ('pending', 'failed_retry')
        order by coalesce(next_attempt_at, created_at) limit 1) as late,
      (select count(*)::integer from (
        select from run where parked_at is not null and status = 'started' limit ${PARKED_MAX}) as parked) as parked,
      (select coalesce(sum(microcredits), 0)::float8 from reservation) as reserved`.execute(db);
  const { late, parked, reserved } = rows[0] ?? { late: null, parked: 0, reserved: 0 };
  return { oldestDueSeconds: Math.max(0, late ?? 0), parkedRuns: parked, reservedMicrocredits: reserved };
}
