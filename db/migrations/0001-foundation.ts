import { type Kysely, sql } from 'kysely';

/**
 * JSON that users wrote is kept as `json`, not `jsonb` or `text`: only `json` accepts \u0000 and keeps key order.
 * Money is in microcredits: 1 credit = 1,000,000 microcredits.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table organization (
    id uuid primary key default gen_random_uuid(),
    slug text not null,
    name text not null,
    description text not null default '',
    balance_microcredits bigint not null default 0 check (balance_microcredits >= 0),
    created_at timestamptz not null default now(),
    deleted_at timestamptz
  )`,
  `create unique index organization_slug_key on organization (slug) where deleted_at is null`,

  `create table project (
    id uuid primary key default gen_random_uuid(),
    organization_id uuid not null references organization (id),
    slug text not null,
    name text not null,
    description text not null default '',
    user_id text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz
  )`,
  `create unique index project_slug_key on project (organization_id, slug) where deleted_at is null`,

  `create table api_key (
    id uuid primary key default gen_random_uuid(),
    key_id text not null constraint api_key_key_id_key unique,
    project_id uuid not null references project (id),
    environment text not null check (environment in ('live', 'test')),
    name text not null,
    secret_hmac bytea not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    revoked_at timestamptz
  )`,
  `create index api_key_project on api_key (project_id) where revoked_at is null`,
  // Every API process listens and drops its cached copy of the key.
  `create function notify_api_key() returns trigger language plpgsql as $$
    begin
      perform pg_notify('weir_api_key', new.key_id);
      return new;
    end $$`,
  `create trigger api_key_changed after update on api_key for each row execute function notify_api_key()`,

  `create table flow (
    id uuid primary key default gen_random_uuid(),
    project_id uuid not null references project (id),
    slug text not null,
    name text not null,
    description text not null default '',
    draft json not null,
    production_version integer,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz
  )`,
  `create unique index flow_slug_key on flow (project_id, slug) where deleted_at is null`,

  `create table flow_version (
    id uuid primary key default gen_random_uuid(),
    flow_id uuid not null references flow (id),
    version integer not null check (version > 0),
    note text not null,
    definition json not null,
    created_at timestamptz not null default now(),
    constraint flow_version_number_key unique (flow_id, version)
  )`,
  `alter table flow add constraint flow_production_version_fkey
    foreign key (id, production_version) references flow_version (flow_id, version)`,
  `create function refuse_version_change() returns trigger language plpgsql as $$
    begin
      raise exception 'a published flow version never changes';
    end $$`,
  `create trigger flow_version_immutable before update or delete on flow_version
    for each row execute function refuse_version_change()`,

  `create table run (
    execution_id uuid primary key,
    organization_id uuid not null references organization (id),
    project_id uuid not null references project (id),
    flow_id uuid not null references flow (id),
    flow_version_id uuid not null references flow_version (id),
    mode text not null check (mode in ('execute', 'jobs')),
    environment text not null check (environment in ('live', 'test')),
    status text not null default 'started' check (status in ('started', 'completed', 'failed')),
    input json not null,
    result json,
    error json,
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    reconciled_at timestamptz
  )`,
  `create index run_by_flow on run (flow_id, started_at desc, execution_id desc)`,
  `create index run_by_project on run (project_id, started_at desc, execution_id desc)`,
  `create index run_unfinished on run (coalesce(reconciled_at, started_at)) where status = 'started'`,

  // One row per block execution: the trace, and the home of outputs too large for a workflow history.
  `create table block_run (
    execution_id uuid not null references run (execution_id),
    block_key text not null,
    step_id text not null,
    name text not null,
    processor_type text not null,
    status text not null check (status in ('completed', 'failed')),
    input json not null,
    output json,
    error json,
    model text,
    prompt_tokens integer not null default 0,
    completion_tokens integer not null default 0,
    cost_microcredits bigint not null default 0,
    latency_ms integer not null,
    attempts integer not null,
    started_at timestamptz not null,
    finished_at timestamptz not null,
    primary key (execution_id, block_key)
  )`,

  `create table ledger_entry (
    id bigint generated always as identity primary key,
    organization_id uuid not null references organization (id),
    entry_key text not null,
    kind text not null check (kind in ('grant', 'charge')),
    amount_microcredits bigint not null,
    execution_id uuid,
    created_at timestamptz not null default now(),
    constraint ledger_entry_key unique (organization_id, entry_key)
  )`,
];
