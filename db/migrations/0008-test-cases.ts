import { type Kysely, sql } from 'kysely';

/**
 * Test cases of flows, and what came of running them. What is tested is a draft: a flow_version without a number, one
 * per content.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table flow_version
    alter column version drop not null,
    add column digest bytea,
    add constraint flow_version_digest_check check ((version is null) = (digest is not null))`,
  `create unique index flow_version_draft on flow_version (flow_id, digest) where version is null`,

  `alter table run
    drop constraint run_mode_check,
    add constraint run_mode_check check (mode in ('execute', 'jobs', 'step', 'test'))`,

  `create table test_case (
    id uuid primary key default gen_random_uuid(),
    flow_id uuid not null references flow (id),
    name text not null,
    input json not null,
    expectation json not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    constraint test_case_name_key unique (flow_id, name)
  )`,

  `create table test_run (
    id uuid primary key,
    flow_id uuid not null references flow (id),
    flow_version_id uuid not null references flow_version (id),
    status text not null default 'started' check (status in ('started', 'completed')),
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    reconciled_at timestamptz
  )`,
  `create index test_run_unfinished on test_run (coalesce(reconciled_at, started_at)) where status = 'started'`,

  // The case as it was: it may be changed or deleted meanwhile. Its run has a row from when it begins.
  `create table test_result (
    execution_id uuid primary key,
    test_run_id uuid not null references test_run (id),
    position integer not null,
    test_case_id uuid not null,
    name text not null,
    input json not null,
    expectation json not null,
    status text not null default 'pending' check (status in ('pending', 'passed', 'failed', 'error')),
    why json,
    judge_execution_id uuid,
    constraint test_result_position_key unique (test_run_id, position)
  )`,
];
