import { type Kysely, sql } from 'kysely';

/** Credits set aside for model calls under way. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table reservation (
    execution_id uuid not null references run (execution_id),
    block_key text not null,
    organization_id uuid not null references organization (id),
    microcredits bigint not null check (microcredits >= 0),
    reserved_at timestamptz not null default now(),
    primary key (execution_id, block_key)
  )`,
  `create index reservation_by_organization on reservation (organization_id)`,
];
