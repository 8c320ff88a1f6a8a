import { type Kysely, sql } from 'kysely';

/** Users see which assistants act for them and disconnect them; an attempt of a delivery keeps the headers it was sent with. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table connected_assistant (
    id uuid primary key default gen_random_uuid(),
    user_id text not null,
    client_id text not null,
    name text,
    scopes text[] not null,
    consented_at timestamptz not null,
    first_used_at timestamptz not null default now(),
    last_used_at timestamptz not null default now(),
    disconnected_at timestamptz,
    unique (user_id, client_id)
  )`,
  `alter table webhook_attempt add column request_headers json`,
];
