import { ServiceError } from '../flow/errors.ts';
import { CANCELLED } from '../flow/run.ts';
import type { Db, Tx } from './connect.ts';

export type Charge = { organizationId: string; executionId: string; blockKey: string; microcredits: number };

/**
 * Takes the cost of one block execution from the organization's balance, once per block execution. The balance never
 * goes below zero: the last call of an empty account is charged what is left, and the ledger says what was taken.
 */
export async function chargeCredits(tx: Tx, charge: Charge): Promise<void> {
  const { balance_microcredits: balance } = await tx
    .selectFrom('organization')
    .select('balance_microcredits')
    .where('id', '=', charge.organizationId)
    // Not FOR UPDATE: that would hold up new runs, whose foreign key locks the organization's key.
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  const amount = Math.min(balance, charge.microcredits);
  const entry = await tx
    .insertInto('ledger_entry')
    .values({
      organization_id: charge.organizationId,
      entry_key: `charge/${charge.executionId}/${charge.blockKey}`,
      kind: 'charge',
      amount_microcredits: -amount,
      execution_id: charge.executionId,
    })
    .onConflict((conflict) => conflict.constraint('ledger_entry_key').doNothing())
    .executeTakeFirst();
  if (entry.numInsertedOrUpdatedRows === 0n) return;
  await tx
    .updateTable('organization')
    .set((eb) => ({ balance_microcredits: eb('balance_microcredits', '-', amount) }))
    .where('id', '=', charge.organizationId)
    .execute();
}

/** Throws CANCELLED for a run that its caller cancelled, INSUFFICIENT_CREDITS when there is nothing left to spend. */
export async function requireSpendable(db: Db, executionId: string): Promise<void> {
  const run = await db
    .selectFrom('run')
    .innerJoin('organization', 'organization.id', 'run.organization_id')
    .select(['organization.balance_microcredits as balance', 'run.cancel_requested_at'])
    .where('run.execution_id', '=', executionId)
    .executeTakeFirstOrThrow();
  if (run.cancel_requested_at) throw new ServiceError(CANCELLED.code, CANCELLED.message);
  if (run.balance <= 0)
    throw new ServiceError(
      'INSUFFICIENT_CREDITS',
      'The organization has no credits left: an operator can grant more.',
    );
}
