import { type Kysely, sql } from 'kysely';

/**
 * A model call whose activity the engine has taken for lost, as after an outage of the engine, may still go on in its process.
 * That process says so here, and attempts that begin elsewhere wait for its end rather than pay for the answer a second time.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`alter table block_under_way add column held_until timestamptz`.execute(db);
}
