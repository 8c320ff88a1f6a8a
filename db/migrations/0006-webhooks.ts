import { type Kysely, sql } from 'kysely';

/** Callbacks of runs, deliveries with their attempts, and signing secrets. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table run
    add column callback_url text,
    add column callback_events text[]`,

  `create table webhook_secret (
    organization_id uuid primary key references organization (id),
    version integer not null,
    current_secret text not null,
    previous_secret text,
    created_at timestamptz not null default now(),
    rotated_at timestamptz,
    grace_until timestamptz
  )`,

  // created_at is as fine as what callers see and send back; seq tells the order of equal ones.
  `create table webhook_delivery (
    id uuid primary key default gen_random_uuid(),
    seq bigint generated always as identity,
    organization_id uuid not null references organization (id),
    execution_id uuid references run (execution_id),
    event_type text not null check (event_type in ('flow.completed', 'flow.failed')),
    target_url text not null,
    status text not null default 'pending'
      check (status in ('pending', 'in_flight', 'succeeded', 'failed_retry', 'failed_permanent', 'dead_letter')),
    round integer not null default 1,
    attempt integer not null default 0,
    response_status integer,
    last_attempted_at timestamptz,
    next_attempt_at timestamptz,
    error_message text,
    body text,
    created_at timestamptz(3) not null default now(),
    check_at timestamptz not null default now() + interval '30 seconds'
  )`,
  `create index webhook_delivery_page on webhook_delivery (organization_id, created_at desc, seq desc)`,
  `create unique index webhook_delivery_run on webhook_delivery (execution_id)`,
  `create index webhook_delivery_open on webhook_delivery (check_at)
    where status in ('pending', 'in_flight', 'failed_retry')`,

  `create table webhook_attempt (
    delivery_id uuid not null references webhook_delivery (id),
    round integer not null,
    attempt integer not null,
    started_at timestamptz not null default now(),
    duration_ms integer,
    response_status integer,
    response_body text,
    error_message text,
    primary key (delivery_id, round, attempt)
  )`,

  // In the transaction that ends the run, whichever that is; a run that nobody asked to call back about costs nothing.
  `create function add_webhook_delivery() returns trigger language plpgsql as $$
    begin
      insert into webhook_delivery (organization_id, execution_id, event_type, target_url)
        values (new.organization_id, new.execution_id, 'flow.' || new.status, new.callback_url);
      return new;
    end $$`,
  `create trigger run_ended after update of status on run for each row
    when (old.status = 'started' and new.status <> 'started' and 'flow.' || new.status = any (new.callback_events))
    execute function add_webhook_delivery()`,
];
