// db/credits holds the balances of organizations: the ledger of grants and charges, and reservations for model calls
// in flight.
import { ServiceError } from '../../flow/errors.ts';
import { type Db, inTransaction, type Tx } from '../connect.ts';
import { organizationNotFound } from '../tenants/organizations.ts';

/** `granted`: whether it was made now. Otherwise it was made before, with `microcredits`. */
export type Grant = { granted: boolean; microcredits: number; balanceMicrocredits: number };

/**
 * Adds `microcredits` (a positive integer) to an organization's balance, once per `entryKey`: a repeated grant
 * returns `granted: false`, the first grant's amount and the current balance. Throws NOT_FOUND, and VALIDATION_ERROR
 * for an amount that is not a positive integer or would make the balance inexact.
 */
export function grantCredits(
  db: Db | Tx,
  organizationId: string,
  microcredits: number,
  entryKey: string,
): Promise<Grant> {
  return inTransaction(db, async (tx) => {
    // Concurrent grants wait for this lock, so that no key is used twice.
    const organization = await tx
      .selectFrom('organization')
      .select('balance_microcredits')
      .where('id', '=', organizationId)
      .where('deleted_at', 'is', null)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!organization) throw organizationNotFound();
    const before = organization.balance_microcredits;
    const earlier = await tx
      .selectFrom('ledger_entry')
      .select('amount_microcredits as microcredits')
      .where('organization_id', '=', organizationId)
      .where('entry_key', '=', entryKey)
      .executeTakeFirst();
    if (earlier) return { granted: false, ...earlier, balanceMicrocredits: before };
    if (
      !(microcredits > 0) ||
      !Number.isSafeInteger(microcredits) ||
      !Number.isSafeInteger(before + microcredits)
    )
      throw new ServiceError(
        'VALIDATION_ERROR',
        'A grant is a positive whole number of microcredits, and the balance stays below 2^53 of them.',
      );
    await tx
      .insertInto('ledger_entry')
      .values({
        organization_id: organizationId,
        entry_key: entryKey,
        kind: 'grant',
        amount_microcredits: microcredits,
        execution_id: null,
      })
      .execute();
    await tx
      .updateTable('organization')
      .set({ balance_microcredits: before + microcredits })
      .where('id', '=', organizationId)
      .execute();
    return { granted: true, microcredits, balanceMicrocredits: before + microcredits };
  });
}

/** Grants starting credits to an organization created by a user; undefined when this user has had them before. */
export async function grantStartingCredits(
  tx: Tx,
  organizationId: string,
  microcredits: number,
  userId: string,
): Promise<Grant | undefined> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('starting_grant')
    .values({ user_id: userId, organization_id: organizationId })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 0n) return undefined;
  return grantCredits(tx, organizationId, microcredits, 'grant/start');
}
