import { type Kysely, sql } from 'kysely';

/**
 * Usage: sums by day that outlive the runs, and what is still to be added to them. The runs that there are already are to be
 * added: writing that down takes some seconds for each million, in which runs wait.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table usage (
    organization_id uuid not null,
    day date not null,
    project_id uuid not null,
    flow_id uuid not null,
    version integer not null,
    key_id text not null,
    subject text not null,
    latency smallint not null,
    count bigint not null,
    failures bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    microcredits bigint not null,
    primary key (organization_id, day, project_id, flow_id, version, key_id, subject, latency)
  )`,
  // One row is deleted for each that is inserted: vacuum it long before a fifth of it is dead.
  `create table usage_pending (
    execution_id uuid not null,
    id bigint generated always as identity,
    at timestamptz not null,
    call_ended boolean not null,
    runs smallint not null,
    failures smallint not null,
    primary key (execution_id, id)
  ) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000)`,
  // The differences that a change of a run's status makes: a session that is continued after its end takes its end back.
  `create function note_usage() returns trigger language plpgsql as $$
    declare
      was_over constant boolean := new.continues is null and old.status in ('completed', 'failed');
      is_over constant boolean := new.continues is null and new.status in ('completed', 'failed');
      runs constant smallint := is_over::int - was_over::int;
      failures constant smallint :=
        (is_over and new.status = 'failed')::int - (was_over and old.status = 'failed')::int;
    begin
      if old.status = 'started' or runs <> 0 or failures <> 0 then
        insert into usage_pending (execution_id, at, call_ended, runs, failures) values (new.execution_id,
          coalesce(case when was_over then old.finished_at else new.finished_at end, now()),
          old.status = 'started', runs, failures);
      end if;
      return new;
    end $$`,
  `create trigger run_changed after update of status on run for each row
    when (old.status is distinct from new.status) execute function note_usage()`,
  `insert into usage_pending (execution_id, at, call_ended, runs, failures)
    select execution_id, coalesce(finished_at, started_at), mode <> 'step' or continues is not null,
      (continues is null and status in ('completed', 'failed'))::int, (continues is null and status = 'failed')::int
    from run where status <> 'started'`,
];
