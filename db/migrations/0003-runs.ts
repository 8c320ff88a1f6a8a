import { type Kysely, sql } from 'kysely';

/**
 * Cancellation, and the order in which block executions were recorded: the id of the transaction that did it, because
 * all with a smaller one can be known to have ended, which a sequence can't tell. What is there already is numbered.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table run add column cancel_requested_at timestamptz`,
  `alter table block_run add column recorded xid8`,
  `update block_run set recorded = numbered.place::text::xid8
    from (
      select execution_id, block_key,
        row_number() over (partition by execution_id order by finished_at, block_key) as place
      from block_run
    ) numbered
    where block_run.execution_id = numbered.execution_id and block_run.block_key = numbered.block_key`,
  `alter table block_run
    alter column recorded set default pg_current_xact_id(),
    alter column recorded set not null`,
];
