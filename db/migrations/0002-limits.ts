import { type Kysely, sql } from 'kysely';

/** Rate limits and idempotency keys. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Unlogged: a request does not wait for the disk here, and after a crash of the database every bucket is full.
  `create unlogged table rate_limit (
    subject uuid primary key,
    full_at timestamptz not null,
    allowed boolean not null
  )`,

  // Deferred: the key is taken first, and a request that finds it taken has written no run.
  `create table idempotency_key (
    project_id uuid not null references project (id),
    endpoint text not null check (endpoint in ('execute', 'jobs')),
    key text not null,
    digest bytea not null,
    execution_id uuid not null references run (execution_id) deferrable initially deferred,
    created_at timestamptz not null default now(),
    primary key (project_id, endpoint, key)
  )`,
  `create index idempotency_key_age on idempotency_key (created_at)`,
];
