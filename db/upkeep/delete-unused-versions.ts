import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connect.ts';

const IS_UNUSED = sql`not exists (select from run where run.flow_version_id = flow_version.id)
  and not exists (select from test_run where test_run.flow_version_id = flow_version.id)`;

/**
 * Deletes up to `limit` versions and snapshots of drafts that no run or test run refers to, and returns the number.
 * `candidates`: the rest of a query after `from` that finds rows of flow_version, up to the end of its conditions.
 */
export function deleteUnusedVersions(
  db: Db,
  candidates: RawBuilder<unknown>,
  limit: number,
): Promise<number> {
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
