import { type Kysely, sql } from 'kysely';

/** Who may do what: members of organizations, who made an API key and when it was used, who changed what. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table organization add column updated_at timestamptz not null default now()`,

  // A user is what the identity provider says it is: its token's \`sub\`.
  `create table membership (
    organization_id uuid not null references organization (id),
    user_id text not null,
    role text not null check (role in ('owner', 'admin', 'member')),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (organization_id, user_id)
  )`,
  `create index membership_by_user on membership (user_id)`,

  `alter table api_key add column created_by text, add column last_used_at timestamptz`,
  // That a key was used is no reason to look it up anew.
  `drop trigger api_key_changed on api_key`,
  `create trigger api_key_changed after update of revoked_at, expires_at on api_key
    for each row execute function notify_api_key()`,

  `create table audit_entry (
    id bigint generated always as identity primary key,
    organization_id uuid not null references organization (id),
    actor text not null,
    action text not null,
    resource_id text not null,
    details json not null,
    request_id uuid not null,
    created_at timestamptz not null default clock_timestamp()
  )`,
  `create index audit_entry_by_organization on audit_entry (organization_id, created_at desc)`,

  // Secrets as platform/secrets/encrypt.ts writes them.
  `create table model_key (
    organization_id uuid not null references organization (id),
    provider text not null,
    secret text not null,
    preview text not null,
    created_by text not null,
    updated_at timestamptz not null default now(),
    primary key (organization_id, provider)
  )`,
  // Keys that came with a run's request end with the run, whoever ends it.
  `alter table run add column model_keys text`,
  `create function clear_model_keys() returns trigger language plpgsql as $$
    begin
      new.model_keys := null;
      return new;
    end $$`,
  `create trigger run_ending before update of status on run for each row
    when (new.status <> 'started' and new.model_keys is not null) execute function clear_model_keys()`,
];
