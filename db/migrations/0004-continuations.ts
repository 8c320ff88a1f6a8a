import { type Kysely, sql } from 'kysely';

/** Runs that pause for tool calls, step-through sessions, and the continuations of both. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table run
    drop constraint run_mode_check,
    drop constraint run_status_check,
    add constraint run_mode_check check (mode in ('execute', 'jobs', 'step')),
    add constraint run_status_check
      check (status in ('started', 'completed', 'failed', 'tool_calls_required', 'in_progress')),
    add column continues uuid references run (execution_id),
    add column step_from integer,
    add column step_to integer,
    add column concludes boolean not null default true,
    add column concluded_by uuid references run (execution_id),
    add column pause json`,
  `create index run_continues on run (continues, started_at) where continues is not null`,
  `alter table block_run
    drop constraint block_run_status_check,
    add constraint block_run_status_check check (status in ('completed', 'failed', 'paused'))`,
  `alter table idempotency_key
    drop constraint idempotency_key_endpoint_check,
    add constraint idempotency_key_endpoint_check check (endpoint in ('execute', 'jobs', 'step'))`,
];
