// db/credits holds the balances of organizations: the ledger of grants and charges, and reservations for model calls
// in flight.

import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import { type Db, inTransaction, type Tx } from '../connect.ts';
import { isCallOf } from '../runs/run-columns.ts';
import { organizationNotFound } from '../tenants/organizations.ts';

/** Amounts are in microcredits. `reserved` is part of the balance, reserved for model calls in flight. */
export type CreditAccount = { balance: number; reserved: number; lowBalanceMark: number | null };

/** Absent fields match every entry; `executionId` is the id of a run. */
type LedgerFilter = {
  kind?: 'grant' | 'charge' | undefined;
  executionId?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  /** The id of the last entry of the previous page. */
  after?: string | undefined;
  limit: number;
};

/** The keys of grants are `grant/{key}`, those of charges `charge/{callId}/{blockKey}`. */
const AFTER_GRANT = sql`substr(entry.entry_key, 7)`;
const AFTER_CALL = sql`substr(entry.entry_key, 45)`;

export type LedgerEntryRow = Awaited<ReturnType<typeof listLedger>>[number];

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

/**
 * Lists the entries of a ledger, newest first, each with its run as `execution_id`, or with its call when the run was
 * deleted; its model and tokens are then null.
 */
export async function listLedger(db: Db, organizationId: string, filter: LedgerFilter) {
  const { kind, executionId, since, until, after, limit } = filter;
  const conditions = [
    sql`entry.organization_id = ${organizationId}`,
    ...(kind === undefined ? [] : [sql`entry.kind = ${sql.lit(kind)}`]),
    ...(executionId === undefined ? [] : [sql`entry.entry_key in (${selectCharges(executionId)})`]),
    ...(since === undefined ? [] : [sql`entry.created_at >= ${since}`]),
    ...(until === undefined ? [] : [sql`entry.created_at < ${until}`]),
    // Compared in the database, whose times are more precise than a Date.
    ...(after === undefined
      ? []
      : [
          sql`(entry.created_at, entry.id) < (select last.created_at, last.id from ledger_entry as last
            where last.organization_id = ${organizationId} and last.id = ${after}::bigint)`,
        ]),
  ];
  const { rows } = await sql<{
    id: string;
    kind: 'grant' | 'charge';
    microcredits: number;
    execution_id: string | null;
    block_key: string | null;
    grant_key: string | null;
    created_at: Date;
    model: string | null;
    prompt_tokens: number | null;
    cached_tokens: number | null;
    cache_write_tokens: number | null;
    completion_tokens: number | null;
    reasoning_tokens: number | null;
  }>`
    select entry.id::text, entry.kind, entry.amount_microcredits as microcredits, entry.created_at,
      coalesce(run.continues, entry.execution_id) as execution_id,
      case when entry.kind = 'charge' then ${AFTER_CALL} end as block_key,
      case when entry.kind = 'grant' then ${AFTER_GRANT} end as grant_key,
      block.model, block.prompt_tokens, block.cached_tokens, block.cache_write_tokens, block.completion_tokens,
      block.reasoning_tokens
    from ledger_entry as entry left join run on run.execution_id = entry.execution_id
      left join block_run as block on block.execution_id = entry.execution_id and block.block_key = ${AFTER_CALL}
    where ${sql.join(conditions, sql` and `)}
    order by entry.created_at desc, entry.id desc limit ${limit}`.execute(db);
  return rows;
}

/** Selects the keys of a run's charges, by its blocks. */
function selectCharges(executionId: string) {
  return sql`
    select 'charge/' || block.execution_id || '/' || block.block_key
    from run join block_run as block on block.execution_id = run.execution_id
    where ${isCallOf(executionId)} and block.cost_microcredits > 0`;
}

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
