import { type Kysely, sql } from 'kysely';

/** Who publishes each version and starts each test run, and each test case's last result; null for those that there are. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table flow_version add column published_by text`,
  `alter table test_run add column started_by text`,
  `alter table test_case add column last_execution_id uuid`,
];
