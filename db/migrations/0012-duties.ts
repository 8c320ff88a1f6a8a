import { type Kysely, sql } from 'kysely';

/** Work that workers do now and then: who does it, and what it looks at, without writing down what it has looked at. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Empty again after a crash: then each duty is due.
  `create unlogged table duty (name text primary key, due_at timestamptz not null)`,
  `drop index run_unfinished`,
  `drop index test_run_unfinished`,
  `alter table run drop column reconciled_at`,
  `alter table test_run drop column reconciled_at`,
  `create index run_unfinished on run (started_at, execution_id) where status = 'started'`,
  `create index test_run_unfinished on test_run (started_at, id) where status = 'started'`,
  `create index run_over on run ((coalesce(finished_at, started_at)))
    where status <> 'started' and continues is null`,
];
