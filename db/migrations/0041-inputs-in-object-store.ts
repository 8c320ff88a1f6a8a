import { type Kysely, sql } from 'kysely';

/**
 * Inputs of calls in an object store: the column is null then, and the linked row of stored_object whose block_key is empty says
 * where the input is.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw('alter table run alter column input drop not null').execute(db);
}
