import { type Kysely, sql } from 'kysely';

/** Since when an operator has suspended an organization, and for which reason: null while it is not suspended, or for none. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw('alter table organization add column suspended_at timestamptz, add column suspension_reason text')
    .execute(db);
}
