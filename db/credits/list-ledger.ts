import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { isCallOf } from '../runs/run-columns.ts';

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

/**
 * Lists the entries of a ledger, newest first, each with its run as `execution_id`, or with its call when the run was
 * deleted.
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
  }>`
    select entry.id::text, entry.kind, entry.amount_microcredits as microcredits, entry.created_at,
      coalesce(run.continues, entry.execution_id) as execution_id,
      case when entry.kind = 'charge' then ${AFTER_CALL} end as block_key,
      case when entry.kind = 'grant' then ${AFTER_GRANT} end as grant_key
    from ledger_entry as entry left join run on run.execution_id = entry.execution_id
    where ${sql.join(conditions, sql` and `)}
    order by entry.created_at desc, entry.id desc limit ${limit}`.execute(db);
  return rows;
}
export type LedgerEntryRow = Awaited<ReturnType<typeof listLedger>>[number];

/** Selects the keys of a run's charges, by its blocks. */
function selectCharges(executionId: string) {
  return sql`
    select 'charge/' || block.execution_id || '/' || block.block_key
    from run join block_run as block on block.execution_id = run.execution_id
    where ${isCallOf(executionId)} and block.cost_microcredits > 0`;
}
