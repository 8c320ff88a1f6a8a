// Limits of organizations: which runs they may start, how many at once, and the rate of requests. A rate limit uses
// GCRA (the generic cell rate algorithm) with one row per limit, shared by all API processes: a minute's requests may
// come at once, and become available again evenly.
import type { Db } from '../connect.ts';

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
