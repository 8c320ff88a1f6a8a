import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { deleteUnusedVersions } from './delete-unused-versions.ts';

/**
 * Requests that found the flow before it was deleted may still load its version and start a run. They take less time.
 */
const KEPT_MINUTES = 10;
const IS_DELETED = sql`flow.deleted_at < now() - ${sql.lit(KEPT_MINUTES)} * interval '1 minute'`;
/** An empty draft takes less. */
const DRAFT_MIN_BYTES = 32;

/**
 * Deletes what is left of flows that were deleted ten minutes ago: drafts, test cases, and versions and snapshots
 * that no run or test run refers to, up to `limit` of each. Returns whether there may be more. Several processes may
 * do this.
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
