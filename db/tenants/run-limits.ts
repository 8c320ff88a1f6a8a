import type { Db } from '../connect.ts';

/** The columns that decide whether an organization may begin or continue runs, to be selected with one of its flows. */
export const RUN_LIMITS = [
  'organization.balance_microcredits as balanceMicrocredits',
  'organization.runs_under_way_max as runsUnderWayMax',
  'organization.suspended_at as suspendedAt',
  'organization.suspension_reason as suspensionReason',
] as const;

/** Gets the same of an organization as it is now. */
export function getRunLimits(db: Db, organizationId: string) {
  return db
    .selectFrom('organization')
    .select(RUN_LIMITS)
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
}
export type RunLimits = Awaited<ReturnType<typeof getRunLimits>>;
