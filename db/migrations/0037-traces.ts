import { type Kysely, sql } from 'kysely';

/** The trace of the request with which each call and each change came; null while traces are off, and for those that there are. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table run add column trace_context json`,
  `alter table audit_entry add column trace_id text`,
];
