import { ServiceError } from '../flow/errors.ts';
import { type Db, inTransaction, type Tx } from './connect.ts';

export const MICROCREDITS_PER_CREDIT = 1_000_000;

export type Grant = { granted: boolean; balanceMicrocredits: number };

/**
 * Adds `microcredits` (a positive integer) to an organization's balance, once per `entryKey`: a repeated grant is
 * answered with `granted: false` and the balance as it is. Throws NOT_FOUND, and
 * VALIDATION_ERROR for an amount that is not a positive integer or would make the balance inexact.
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
    if (!organization) throw new ServiceError('NOT_FOUND', 'There is no such organization.');
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
    const entry = { organizationId, entryKey, kind: 'grant' as const, amount: microcredits };
    const granted = await postEntry(tx, entry);
    return { granted, balanceMicrocredits: granted ? before + microcredits : before };
  });
}

export type Charge = { organizationId: string; executionId: string; blockKey: string; microcredits: number };

/**
 * Takes the cost of one block execution from the organization's balance, once per block execution. The balance never
 * goes below zero: the last call of an empty account is charged what is left, and the ledger says what was taken.
 */
export async function chargeCredits(tx: Tx, charge: Charge): Promise<void> {
  const balance = await lockBalance(tx, charge.organizationId);
  await postEntry(tx, {
    organizationId: charge.organizationId,
    entryKey: `charge/${charge.executionId}/${charge.blockKey}`,
    kind: 'charge',
    amount: -Math.min(balance, charge.microcredits),
    executionId: charge.executionId,
  });
}

/** An organization's balance in microcredits, which nobody else changes or reserves of before the end of `tx`. */
export async function lockBalance(tx: Tx, organizationId: string): Promise<number> {
  const { balance_microcredits } = await tx
    .selectFrom('organization')
    .select('balance_microcredits')
    .where('id', '=', organizationId)
    // Not FOR UPDATE: that would hold up new runs, whose foreign key locks the organization's key.
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  return balance_microcredits;
}

type Entry = {
  organizationId: string;
  entryKey: string;
  kind: 'grant' | 'charge';
  /** Microcredits, negative for a charge. */
  amount: number;
  executionId?: string;
};

/** Writes an entry and moves the balance by it, once per key; the caller holds the organization's row. */
async function postEntry(tx: Tx, entry: Entry): Promise<boolean> {
  const inserted = await tx
    .insertInto('ledger_entry')
    .values({
      organization_id: entry.organizationId,
      entry_key: entry.entryKey,
      kind: entry.kind,
      amount_microcredits: entry.amount,
      execution_id: entry.executionId ?? null,
    })
    .onConflict((conflict) => conflict.constraint('ledger_entry_key').doNothing())
    .executeTakeFirst();
  if (inserted.numInsertedOrUpdatedRows === 0n) return false;
  await tx
    .updateTable('organization')
    .set((eb) => ({ balance_microcredits: eb('balance_microcredits', '+', entry.amount) }))
    .where('id', '=', entry.organizationId)
    .execute();
  return true;
}
