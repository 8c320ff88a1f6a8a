import { type Kysely, sql } from 'kysely';

/** So that a run can be deleted without reading whole tables for what refers to it. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create index idempotency_key_by_run on idempotency_key (execution_id)`,
  `create index webhook_delivery_by_run on webhook_delivery (execution_id)`,
  `create index run_concluded_by on run (concluded_by) where concluded_by is not null`,
];
