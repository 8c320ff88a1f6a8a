import { sql } from 'kysely';
import type { Tx } from '../connect.ts';

/**
 * Suspends an organization. For a suspended one, keeps the time, and the reason unless there is a new one. Returns
 * whether anything changed.
 */
export async function suspendOrganization(tx: Tx, id: string, reason: string | undefined): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization')
    .set({
      suspended_at: sql`coalesce(suspended_at, now())`,
      ...(reason !== undefined && { suspension_reason: reason }),
    })
    .where('id', '=', id)
    .where((eb) =>
      eb.or([
        eb('suspended_at', 'is', null),
        ...(reason === undefined ? [] : [eb('suspension_reason', 'is distinct from', reason)]),
      ]),
    )
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Ends the suspension of an organization. Returns whether it was suspended. */
export async function endSuspension(tx: Tx, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization')
    .set({ suspended_at: null, suspension_reason: null })
    .where('id', '=', id)
    .where('suspended_at', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
