// Limits of organizations: which runs they may start, how many at once, and the rate of requests. A rate limit uses
// GCRA (the generic cell rate algorithm) with one row per limit, shared by all API processes: a minute's requests may
// come at once, and become available again evenly.

import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../connect.ts';
import { repeatLostWrite } from '../connection/database-errors.ts';

const SECOND_US = 1_000_000;
const MINUTE_US = 60 * SECOND_US;

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

/** A quota after a request: all of it is available again after `resetSeconds`, one request after `retrySeconds`. */
export type QuotaState = {
  name: string;
  perMinute: number;
  allowed: boolean;
  remaining: number;
  resetSeconds: number;
  retrySeconds: number;
};

type Taken = { allowed: boolean; full_in_us: number };

/**
 * Takes one request from each quota, in one statement. Stops at the first quota that is used up, which is then the last of
 * the result. The statement is repeated when its connection was lost; the request may then count twice.
 */
export async function takeRequest(db: Db, quotas: Quota[]): Promise<QuotaState[]> {
  if (quotas.length === 0) return [];
  const names = quotas.map((_, index) => sql.ref(`quota_${index}`));
  const parts = quotas.map((quota, index) => sql`${names[index]} as (${takeOne(quota, names[index - 1])})`);
  const states = names.map((name, index) => sql`select ${sql.lit(index)} as index, * from ${name}`);
  const taking = sql<Taken>`with ${sql.join(parts)} ${sql.join(states, sql` union all `)} order by index`;
  const { rows } = await repeatLostWrite(() => taking.execute(db));
  return rows.map((row, index) => stateOf(quotas[index] as Quota, row));
}

/** Takes one request from a quota, if the statement named `previous` took one. */
function takeOne({ subject, perMinute }: Quota, previous: RawBuilder<unknown> | undefined) {
  const step = sql`${stepUsOf(perMinute)} * interval '1 microsecond'`;
  const minute = sql`${stepUsOf(perMinute) * perMinute} * interval '1 microsecond'`;
  // Later only after the limit was raised or the clock was set back.
  const fullAt = sql`least(r.full_at, now() + ${minute})`;
  // GCRA's theoretical arrival time moves ahead, unless it would be more than a minute's quota ahead.
  const next = sql`greatest(${fullAt}, now()) + ${step}`;
  const fits = sql`${next} <= now() + ${minute}`;
  const ifTaken = previous ? sql`from ${previous} where allowed` : sql``;
  return sql`
    insert into rate_limit as r (subject, full_at, allowed) select ${subject}::uuid, now() + ${step}, true ${ifTaken}
    on conflict (subject) do update set
      allowed = ${fits}, full_at = case when ${fits} then ${next} else ${fullAt} end
    returning allowed, (extract(epoch from full_at - now()) * 1000000)::bigint as full_in_us`;
}

function stateOf({ name, perMinute }: Quota, { allowed, full_in_us }: Taken): QuotaState {
  const stepUs = stepUsOf(perMinute);
  const fullInUs = Math.max(0, full_in_us);
  const leftUs = stepUs * perMinute - fullInUs;
  return {
    name,
    perMinute,
    allowed,
    remaining: Math.max(0, Math.floor(leftUs / stepUs)),
    resetSeconds: Math.ceil(fullInUs / SECOND_US),
    retrySeconds: Math.max(1, Math.ceil((stepUs - leftUs) / SECOND_US)),
  };
}

/** Returns the microseconds after which a quota has one more request. */
function stepUsOf(perMinute: number): number {
  return Math.floor(MINUTE_US / perMinute);
}
