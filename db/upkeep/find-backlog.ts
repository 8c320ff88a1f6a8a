import { sql } from 'kysely';
import { OPEN_STATUSES } from '../../flow/delivery.ts';
import type { Db } from '../connect.ts';

const PARKED_MAX = 10_000;

/** The work that waits in the database: `parkedRuns` are counted up to 10,000. */
export type Backlog = { oldestDueSeconds: number; parkedRuns: number };

/**
 * Finds how long the delivery that has waited longest has been due, and how many runs are parked. It costs a look into an
 * index for each pair of a host and an organization that has a delivery waiting, whatever the number of deliveries.
 */
export async function findBacklog(db: Db): Promise<Backlog> {
  const { rows } = await sql<{ oldest: number | null; late: number | null; parked: number }>`
    with recursive waiting as (
      (select host, organization_id, since from webhook_turn where held_until is null
        order by host, organization_id, since limit 1)
      union all
      select next.* from waiting, lateral (
        select host, organization_id, since from webhook_turn
        where held_until is null and (host, organization_id) > (waiting.host, waiting.organization_id)
        order by host, organization_id, since limit 1
      ) as next
    )
    select
      (select extract(epoch from now() - min(since))::float8 from waiting) as oldest,
      (select extract(epoch from now() - check_at)::float8 from webhook_delivery
        where status in (${sql.join(OPEN_STATUSES)}) order by check_at limit 1) as late,
      (select count(*)::integer from (
        select from run where parked_at is not null limit ${PARKED_MAX}) as parked) as parked`.execute(db);
  const { oldest, late, parked } = rows[0] ?? { oldest: null, late: null, parked: 0 };
  return { oldestDueSeconds: Math.max(0, oldest ?? 0, late ?? 0), parkedRuns: parked };
}
