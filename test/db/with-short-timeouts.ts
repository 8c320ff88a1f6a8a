import { sql } from 'kysely';
import type { TestDatabase } from './test-database.ts';

/** Returns the address with which each of the server's timeouts for statements and transactions is a second. */
export async function withShortTimeouts({ db, url }: TestDatabase): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select name from pg_settings
    where name in ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`.execute(
    db,
  );
  const options = rows.map(({ name }) => `-c ${name}=1s`).join(' ');
  return `${url}?options=${encodeURIComponent(options)}`;
}
