import type { Db, Tx } from '../connect.ts';

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
