import { sql } from 'kysely';
import type { Db, Tx } from '../connect.ts';
import { organizationNotFound } from '../tenants/organizations.ts';

/** Amounts are in microcredits. `reserved` is part of the balance, reserved for model calls in flight. */
export type CreditAccount = { balance: number; reserved: number; lowBalanceMark: number | null };

/** Gets the account of an organization. Throws NOT_FOUND. */
export async function getCreditAccount(db: Db | Tx, organizationId: string): Promise<CreditAccount> {
  const account = await db
    .selectFrom('organization')
    .select(['balance_microcredits as balance', 'low_balance_microcredits as lowBalanceMark'])
    .select((eb) =>
      eb
        .selectFrom('reservation')
        .select(sql<number>`coalesce(sum(microcredits), 0)::bigint`.as('sum'))
        .where('organization_id', '=', organizationId)
        .$asScalar()
        .$notNull()
        .as('reserved'),
    )
    .where('id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!account) throw organizationNotFound();
  return account;
}

/** Sets or removes the mark below which an organization's balance is low; returns whether it changed. */
export async function setLowBalanceMark(
  tx: Tx,
  organizationId: string,
  microcredits: number | null,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization')
    .set({ low_balance_microcredits: microcredits })
    .where('id', '=', organizationId)
    .where('low_balance_microcredits', 'is distinct from', microcredits)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
