import { type Kysely, sql } from 'kysely';

/**
 * The id of the request that began each call; null for those that there are. Callers may choose the ids of their requests, so
 * that they need not be UUIDs.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table run add column request_id text`,
  // locks: while it writes the table anew, a moment, since the audit log has an entry for each change by people, not for each run.
  `alter table audit_entry alter column request_id type text`,
];
