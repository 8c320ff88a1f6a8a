import { type Kysely, sql } from 'kysely';

/** Members have the names and e-mail addresses that the identity provider tells; people are invited by e-mail address. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Not columns of the membership: the audit log names people who have left, too.
  `create table member_profile (
    organization_id uuid not null references organization (id),
    user_id text not null,
    name text,
    email text,
    email_verified boolean not null,
    told_at timestamptz not null,
    primary key (organization_id, user_id)
  )`,
  `create table invitation (
    id uuid primary key default gen_random_uuid(),
    organization_id uuid not null references organization (id),
    email text not null,
    role text not null check (role in ('admin', 'member')),
    invited_by text not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    unique (organization_id, email)
  )`,
  `create index invitation_by_email on invitation (email)`,
];
