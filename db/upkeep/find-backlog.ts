import { sql } from 'kysely';
import type { Db } from '../connect.ts';

const PARKED_MAX = 10_000;

/** The backlog in the database: `parkedRuns` are counted up to 10,000. */
type Backlog = { oldestDueSeconds: number; parkedRuns: number; reservedMicrocredits: number };

/**
 * Finds for how long the most overdue delivery has been due, and the number of parked runs and of reservations.
 * Deliveries and runs each cost an index lookup, whatever their number. There are as many reservations as blocks in
 * flight.
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
