// Deletes objects that nobody can read any more. Their rows are marked first and deleted last, so that an interrupted
// deletion continues.
import { sql } from 'kysely';
import { ObjectStoreUnavailable } from '../../platform/object-store/object-store.ts';
import type { Db, Tx } from '../connect.ts';
import { objectStoreOf } from '../stored-values/store-object.ts';

/** The number that one request deletes. */
const BATCH = 1_000;
/** A writer links its object within seconds; only an outage of the database delays it. */
const UNLINKED_MAX = '1 hour';
/** Longer than a write may take: an object that arrived after its deletion would stay for good. */
const WRITTEN_WITHIN = '2 minutes';

/** The key of a row of stored_object. */
type ObjectKey = { execution_id: string; block_key: string; sha256: string };

/** Marks the objects of calls that this transaction deletes. */
export async function doomObjectsOf(tx: Tx, callIds: string[]): Promise<void> {
  await sql`update stored_object set doomed_at = now()
    where execution_id = any(${callIds}::uuid[]) and doomed_at is null`.execute(tx);
}

/** Marks objects that writers left behind when they died; returns whether there may be more. */
export async function doomUnlinkedObjects(db: Db): Promise<boolean> {
  const { numAffectedRows } = await sql`update stored_object set doomed_at = now()
    where (execution_id, block_key, sha256) in (
      select execution_id, block_key, sha256 from stored_object
      where not linked and doomed_at is null and created_at < now() - ${UNLINKED_MAX}::interval
      limit ${BATCH}
    ) and not linked and doomed_at is null`.execute(db);
  return Number(numAffectedRows) === BATCH;
}

/**
 * Marks objects whose run is gone, among the next rows after `last`. Returns the key to continue from; undefined
 * after the last row. The run of an unlinked object may be about to be stored.
 */
export async function doomObjectsWithoutRun(
  db: Db,
  last: ObjectKey | undefined,
): Promise<ObjectKey | undefined> {
  const after = last
    ? sql`where (execution_id, block_key, sha256) > (${last.execution_id}::uuid, ${last.block_key}, ${last.sha256})`
    : sql.raw('');
  const { rows } = await sql<ObjectKey>`
    with page as (
      select execution_id, block_key, sha256 from stored_object ${after}
      order by execution_id, block_key, sha256 limit ${BATCH}
    ), doomed as (
      update stored_object set doomed_at = now() from page
      where stored_object.execution_id = page.execution_id and stored_object.block_key = page.block_key
        and stored_object.sha256 = page.sha256 and stored_object.linked and stored_object.doomed_at is null
        and not exists (select from run where run.execution_id = page.execution_id)
    )
    select * from page order by execution_id, block_key, sha256`.execute(db);
  return rows.length === BATCH ? rows.at(-1) : undefined;
}

/**
 * Deletes up to BATCH marked objects and their rows; returns the number. Throws ObjectStoreUnavailable while the
 * store does not delete them.
 */
export async function removeDoomedObjects(db: Db): Promise<number> {
  const rows = await db
    .selectFrom('stored_object')
    .select(['execution_id', 'block_key', 'sha256', 'location'])
    .where('doomed_at', 'is not', null)
    .where(sql<boolean>`created_at < now() - ${WRITTEN_WITHIN}::interval`)
    .orderBy('doomed_at')
    .limit(BATCH)
    .execute();
  if (rows.length === 0) return 0;
  const remove = objectStoreOf(db).remove(rows.map(({ location }) => location));
  const gone = new Set(
    await remove.catch(async (error: unknown) => {
      await postpone(db, rows);
      throw error;
    }),
  );
  const [removed, left] = [true, false].map((is) => rows.filter(({ location }) => gone.has(location) === is));
  await sql`delete from stored_object where ${isOneOf(removed ?? [])}`.execute(db);
  if (!left?.length) return rows.length;
  await postpone(db, left);
  throw new ObjectStoreUnavailable('The object store refuses to delete objects.');
}

/** Moves these to the end: they may be in a bucket that was given up. */
async function postpone(db: Db, keys: ObjectKey[]): Promise<void> {
  await sql`update stored_object set doomed_at = now() where ${isOneOf(keys)}`.execute(db);
}

function isOneOf(keys: ObjectKey[]) {
  const column = (name: keyof ObjectKey) => keys.map((key) => key[name]);
  return sql`(execution_id, block_key, sha256) in (
    select * from unnest(${column('execution_id')}::uuid[], ${column('block_key')}::text[], ${column('sha256')}::text[]))`;
}
