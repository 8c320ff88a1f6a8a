import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connect.ts';

const IS_UNUSED = sql`not exists (select from run where run.flow_version_id = flow_version.id)
  and not exists (select from test_run where test_run.flow_version_id = flow_version.id)`;

/**
 * Requests that found the flow before it was deleted may still load its version and start a run. They take less time.
 */
const KEPT_MINUTES = 10;
const IS_DELETED = sql`flow.deleted_at < now() - ${sql.lit(KEPT_MINUTES)} * interval '1 minute'`;
/** An empty draft takes less. */
const DRAFT_MIN_BYTES = 32;

/**
 * Deletes the remains of flows ten minutes after their deletion: drafts, test cases, and unused versions and snapshots, up
 * to `limit` rows of each. Returns whether there may be more. Several processes may do this at once.
 */
export async function deleteDefinitions(db: Db, limit: number): Promise<boolean> {
  const drafts = await sql`
    with left_over as (
      select id from flow
      where ${IS_DELETED} and (production_version is not null or pg_column_size(draft) > ${DRAFT_MIN_BYTES})
      limit ${limit} for no key update skip locked
    )
    update flow set draft = '{"steps":[]}', production_version = null from left_over
    where flow.id = left_over.id`.execute(db);
  const testCases = await sql`
    delete from test_case where id in (
      select test_case.id from flow join test_case on test_case.flow_id = flow.id
      where ${IS_DELETED} limit ${limit} for update of test_case skip locked
    )`.execute(db);
  const ofDeleted = sql`flow join flow_version on flow_version.flow_id = flow.id
    where ${IS_DELETED} and flow.production_version is null`;
  const versions = await deleteUnusedVersions(db, ofDeleted, limit);
  return [drafts.numAffectedRows, testCases.numAffectedRows, versions].some((rows) => Number(rows) === limit);
}

/**
 * Deletes up to `limit` snapshots of drafts that are older than `days` and that no run or test run refers to. Returns
 * the number. Several processes may do this.
 */
export function deleteDraftSnapshots(db: Db, days: number, limit: number): Promise<number> {
  const ofDrafts = sql`flow_version where version is null and created_at < now() - ${days} * interval '1 day'`;
  return deleteUnusedVersions(db, ofDrafts, limit);
}

/**
 * Deletes up to `limit` versions and snapshots of drafts that no run or test run refers to, and returns the number.
 * `candidates`: the rest of a query after `from` that finds rows of flow_version, up to the end of its conditions.
 */
function deleteUnusedVersions(db: Db, candidates: RawBuilder<unknown>, limit: number): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string }>`
      select flow_version.id from ${candidates} and ${IS_UNUSED}
      limit ${limit} for update of flow_version skip locked`.execute(tx);
    // Checked again now that nothing can refer to them any more: a run may have begun just before they were locked.
    const { numAffectedRows } = await sql`
      delete from flow_version where id = any(${rows.map(({ id }) => id)}::uuid[]) and ${IS_UNUSED}`.execute(
      tx,
    );
    return Number(numAffectedRows ?? 0);
  });
}
