import { type Kysely, sql } from 'kysely';

/** A run keeps the API key that started it and the run that it repeats, so that lists of runs can be filtered by the former. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`alter table run add column key_id text, add column repeats uuid`.execute(db);
}
