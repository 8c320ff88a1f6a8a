import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connect.ts';
import { isUnderWay } from '../runs/blocks-under-way.ts';
import { IS_CRASH_LOOPING } from '../runs/stuck-calls.ts';

/** The backlog in the database. `runs`: calls in flight. `crashLooping`: runs whose workers were lost three times or more. */
type Backlog = {
  oldestDueSeconds: number;
  runs: number;
  crashLooping: number;
  reservedMicrocredits: number;
};

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
 * Returns the age of the most overdue delivery, the calls in flight, those that lose their workers, and the credits
 * reserved. A delivery costs one index lookup. Each block in flight has one reservation.
 */
export async function findBacklog(db: Db): Promise<Backlog> {
  const { rows } = await sql<{ late: number | null; runs: number; losing: number; reserved: number }>`
    select
      (select extract(epoch from now() - coalesce(next_attempt_at, created_at))::float8 from webhook_delivery
        where status in ('pending', 'failed_retry')
        order by coalesce(next_attempt_at, created_at) limit 1) as late,
      (select count(*)::integer from run where status = 'started') as runs,
      (select count(distinct run.execution_id)::integer from block_under_way join run using (execution_id)
        where ${IS_CRASH_LOOPING} and ${isUnderWay('run')}) as losing,
      (select coalesce(sum(microcredits), 0)::float8 from reservation) as reserved`.execute(db);
  const { late, runs, losing, reserved } = rows[0] ?? { late: null, runs: 0, losing: 0, reserved: 0 };
  return {
    oldestDueSeconds: Math.max(0, late ?? 0),
    runs,
    crashLooping: losing,
    reservedMicrocredits: reserved,
  };
}
