// The quota of an organization's runs in flight. It is counted when a run is stored, so that no counter can drift.
import { type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import { ServiceError } from '../../flow/errors.ts';
import { countRefusal } from '../../platform/observability/metrics/http-metrics.ts';
import type { Db, Tx } from '../connect.ts';

/** Counts the runs in flight of each of these organizations that has some, by its id. */
export async function countRunsUnderWay(db: Db, organizationIds: string[]): Promise<Map<string, number>> {
  if (organizationIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('run')
    .select(['organization_id', sql<number>`count(*)::int`.as('count')])
    .where('status', '=', 'started')
    .where('organization_id', 'in', organizationIds)
    .groupBy('organization_id')
    .execute();
  return new Map(rows.map((row) => [row.organization_id, row.count]));
}

/**
 * Returns the id of the organization, for inserting a run; the statement fails while `most` of its runs are in
 * flight.
 */
export function withinQuota(organizationId: string, callId: string | null, most: number): RawBuilder<string> {
  return sql`organization_within_quota(${organizationId}::uuid, ${callId}::uuid, ${most})`;
}

/**
 * Throws RATE_LIMITED while `most` runs of the organization are in flight, counting cases of its other test runs that
 * are still to run; 0: no limit. Test runs of an organization are accepted one after the other, so that each sees the
 * cases of the earlier ones.
 */
export async function requireQuotaOfTests(
  tx: Tx,
  { testRunId, organizationId, most }: { testRunId: string; organizationId: string; most: number },
): Promise<void> {
  if (most === 0) return;
  await sql`select pg_advisory_xact_lock(hashtextextended(${organizationId}, 0))`.execute(tx);
  const { rows } = await sql`
    select from test_run
    join flow on flow.id = test_run.flow_id join project on project.id = flow.project_id
    join test_result on test_result.test_run_id = test_run.id
    where test_run.status = 'started' and test_run.id <> ${testRunId} and test_run.cancel_requested_at is null
      and project.organization_id = ${organizationId} and test_result.status = 'pending'
      and not exists (select from run where run.execution_id = test_result.execution_id)
    limit ${most}`.execute(tx);
  const left = most - rows.length;
  if (left === 0) throw overQuota(most);
  await sql`select ${withinQuota(organizationId, null, left)}`.execute(tx).catch((error: unknown) => {
    throw isOverQuota(error) ? overQuota(most) : error;
  });
}

export function isOverQuota(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.constraint === 'runs_under_way_max';
}

/** Counts the rejection and makes its error. */
export function overQuota(most: number): ServiceError {
  countRefusal('runs_under_way');
  return new ServiceError(
    'RATE_LIMITED',
    `The organization has ${most} runs under way, as many as it may have. Nothing was started: try again when one has ended. The operator of the service sets this number.`,
  );
}
