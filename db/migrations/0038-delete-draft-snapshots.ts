import { type Kysely, sql } from 'kysely';

/** Snapshots of drafts may be deleted, once nothing refers to them; published versions still never change. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create or replace function refuse_version_change() returns trigger language plpgsql as $$
  begin
    if tg_op = 'DELETE' and old.version is null then return old; end if;
    raise exception 'a published flow version never changes';
  end $$`,
];
