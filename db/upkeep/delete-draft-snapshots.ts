import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { deleteUnusedVersions } from './delete-unused-versions.ts';

/**
 * Deletes up to `limit` snapshots of drafts that are older than `days` and that no run or test run refers to. Returns
 * the number. Several processes may do this.
 */
export function deleteDraftSnapshots(db: Db, days: number, limit: number): Promise<number> {
  const ofDrafts = sql`flow_version where version is null and created_at < now() - ${days} * interval '1 day'`;
  return deleteUnusedVersions(db, ofDrafts, limit);
}
