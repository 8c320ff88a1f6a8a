import { type Kysely, sql } from 'kysely';

/** Balances over HTTP: a mark below which one is low, and who has had credits for a first organization. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table organization add column low_balance_microcredits bigint check (low_balance_microcredits > 0)`,
  `create table starting_grant (
    user_id text primary key,
    organization_id uuid not null references organization (id),
    granted_at timestamptz not null default now()
  )`,
  // In the audit log, because that is kept and read; once, because a balance falls below the mark once until it is raised.
  `create function record_low_balance() returns trigger language plpgsql as $$
    begin
      insert into audit_entry (organization_id, actor, action, resource_id, details, request_id)
        values (new.id, 'service', 'credits.low', new.id, json_build_object(
          'credits', new.balance_microcredits / 1e6, 'low_balance_mark', new.low_balance_microcredits / 1e6
        ), gen_random_uuid());
      return new;
    end $$`,
  `create trigger balance_is_low after update of balance_microcredits on organization for each row
    when (old.balance_microcredits >= new.low_balance_microcredits
      and new.balance_microcredits < new.low_balance_microcredits)
    execute function record_low_balance()`,
];
