// Limits of organizations: which runs they may start, how many at once, and the rate of requests. A rate limit uses
// GCRA (the generic cell rate algorithm) with one row per limit, shared by all API processes: a minute's requests may
// come at once, and become available again evenly.

import { sql } from 'kysely';
import type { Db, Tx } from '../connect.ts';

const MINUTE_US = 60_000_000;

/** A rate limit: `perMinute` requests for `subject`, the id of an API key, organization or user. */
export type Quota = { name: string; subject: string; perMinute: number };

/** The columns that decide whether an organization may begin or continue runs, for queries over its flows. */
export const RUN_LIMITS = [
  'organization.balance_microcredits as balanceMicrocredits',
  'organization.runs_under_way_max as runsUnderWayMax',
  'organization.suspended_at as suspendedAt',
  'organization.suspension_reason as suspensionReason',
] as const;

/** Finds the present limits of a flow's organization; undefined when the flow was deleted. */
export function findRunLimits(db: Db, flowId: string) {
  return db
    .selectFrom('flow')
    .innerJoin('project', 'project.id', 'flow.project_id')
    .innerJoin('organization', 'organization.id', 'project.organization_id')
    .select(RUN_LIMITS)
    .where('flow.id', '=', flowId)
    .where('flow.deleted_at', 'is', null)
    .executeTakeFirst();
}
export type RunLimits = NonNullable<Awaited<ReturnType<typeof findRunLimits>>>;

/** Finds the maximum number of an organization's runs in flight; null when no operator has set it. */
export async function findRunsUnderWayMax(db: Db, organizationId: string): Promise<number | null> {
  const row = await db
    .selectFrom('organization')
    .select('runs_under_way_max')
    .where('id', '=', organizationId)
    .executeTakeFirst();
  return row?.runs_under_way_max ?? null;
}

/** Sets the maximum; null: the service's default. Returns whether it changed. */
export async function updateRunsUnderWayMax(
  db: Db | Tx,
  organizationId: string,
  most: number | null,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('organization')
    .set({ runs_under_way_max: most })
    .where('id', '=', organizationId)
    .where('runs_under_way_max', 'is distinct from', most)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns the microseconds after which a quota has one more request. */
export function stepUsOf({ perMinute }: Pick<Quota, 'perMinute'>): number {
  return Math.floor(MINUTE_US / perMinute);
}

/**
 * Takes `count` requests, at most a minute's, from a quota: all or none. Returns whether it did, and the microseconds
 * until the quota is full again. A count of 0 only asks.
 */
export async function takeRequests(
  db: Db,
  { subject, perMinute }: Quota,
  count: number,
): Promise<{ taken: boolean; fullInUs: number }> {
  const stepUs = stepUsOf({ perMinute });
  const ahead = sql`${stepUs * count} * interval '1 microsecond'`;
  const minute = sql`${stepUs * perMinute} * interval '1 microsecond'`;
  // Later only after the limit was raised or the clock was set back.
  const fullAt = sql`least(r.full_at, now() + ${minute})`;
  // GCRA's theoretical arrival time moves ahead, unless it would be more than a minute's quota ahead.
  const next = sql`greatest(${fullAt}, now()) + ${ahead}`;
  const fits = sql`${next} <= now() + ${minute}`;
  const { rows } = await sql<{ allowed: boolean; full_in_us: number }>`
    insert into rate_limit as r (subject, full_at, allowed) values (${subject}::uuid, now() + ${ahead}, true)
    on conflict (subject) do update set
      allowed = ${fits}, full_at = case when ${fits} then ${next} else ${fullAt} end
    returning allowed, (extract(epoch from full_at - now()) * 1000000)::bigint as full_in_us`.execute(db);
  const [row] = rows as [(typeof rows)[number]];
  return { taken: row.allowed, fullInUs: Math.max(0, row.full_in_us) };
}
