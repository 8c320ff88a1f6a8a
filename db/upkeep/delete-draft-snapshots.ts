import { sql } from 'kysely';
import type { Db } from '../connect.ts';

/**
 * Deletes up to `limit` snapshots of drafts that are older than `days` and to which no run or test run refers any more. Returns
 * how many. Several processes may do this.
 */
export function deleteDraftSnapshots(db: Db, days: number, limit: number): Promise<number> {
  const isUnused = sql`not exists (select from run where run.flow_version_id = snapshot.id)
    and not exists (select from test_run where test_run.flow_version_id = snapshot.id)`;
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string }>`
      select id from flow_version as snapshot
      where version is null and created_at < now() - ${days} * interval '1 day' and ${isUnused}
      limit ${limit} for update skip locked`.execute(tx);
    // Looked at again now that nothing more can refer to them: a run may have begun just before they were locked.
    const { numAffectedRows } = await sql`
      delete from flow_version as snapshot
      where id = any(${rows.map(({ id }) => id)}::uuid[]) and ${isUnused}`.execute(tx);
    return Number(numAffectedRows ?? 0);
  });
}
