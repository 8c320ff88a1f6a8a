import { type Kysely, sql } from 'kysely';

/** Blocks that take long or that their provider has refused, so that callers see a run at work. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`create table block_under_way (
    execution_id uuid not null references run (execution_id) on delete cascade,
    block_key text not null,
    step_id text not null,
    name text not null,
    processor_type text not null,
    attempts integer not null,
    started_at timestamptz not null,
    last_error text,
    next_attempt_at timestamptz,
    recorded xid8 not null default pg_current_xact_id(),
    primary key (execution_id, block_key)
  )`)
    .execute(db);
}
