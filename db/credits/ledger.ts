// db/credits holds the balances of organizations: the ledger of grants and charges, and reservations for calls under way.
import { ServiceError } from '../../flow/errors.ts';
import { type Db, inTransaction, type Tx } from '../connect.ts';
import { organizationNotFound } from '../tenants/organizations.ts';

export const MICROCREDITS_PER_CREDIT = 1_000_000;

export type Grant = { granted: boolean; balanceMicrocredits: number };

/**
 * Adds `microcredits` (a positive integer) to an organization's balance, once per `entryKey`: a repeated grant answers
 * `granted: false` and the current balance. Throws NOT_FOUND, and VALIDATION_ERROR for an amount that is not a positive
 * integer or would make the balance inexact.
 */
export function grantCredits(
  db: Db | Tx,
  organizationId: string,
  microcredits: number,
  entryKey: string,
): Promise<Grant> {
  return inTransaction(db, async (tx) => {
    const organization = await tx
      .selectFrom('organization')
      .select('balance_microcredits')
      .where('id', '=', organizationId)
      .where('deleted_at', 'is', null)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!organization) throw organizationNotFound();
    const before = organization.balance_microcredits;
    if (
      !(microcredits > 0) ||
      !Number.isSafeInteger(microcredits) ||
      !Number.isSafeInteger(before + microcredits)
    )
      throw new ServiceError(
        'VALIDATION_ERROR',
        'A grant is a positive whole number of microcredits, and the balance stays below 2^53 of them.',
      );
    const { numInsertedOrUpdatedRows: inserted } = await tx
      .insertInto('ledger_entry')
      .values({
        organization_id: organizationId,
        entry_key: entryKey,
        kind: 'grant',
        amount_microcredits: microcredits,
        execution_id: null,
      })
      .onConflict((conflict) => conflict.constraint('ledger_entry_key').doNothing())
      .executeTakeFirst();
    if (inserted === 0n) return { granted: false, balanceMicrocredits: before };
    await tx
      .updateTable('organization')
      .set({ balance_microcredits: before + microcredits })
      .where('id', '=', organizationId)
      .execute();
    return { granted: true, balanceMicrocredits: before + microcredits };
  });
}
