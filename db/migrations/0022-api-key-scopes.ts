import { type Kysely, sql } from 'kysely';

/** API keys have scopes. Those made before, or by processes that know no scopes, keep what they may do. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`alter table api_key add column scopes text[] not null default '{run,webhooks}'`.execute(db);
}
