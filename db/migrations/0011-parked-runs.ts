import { type Kysely, sql } from 'kysely';

/** A run under which workers are lost again and again waits for an operator. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table run add column parked_at timestamptz, add column resume_requested_at timestamptz`,
  `create index run_parked on run (execution_id) where parked_at is not null`,
];
