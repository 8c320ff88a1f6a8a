import { type Kysely, sql } from 'kysely';

/**
 * How many blocks a version or snapshot has, so that a list of runs loads no definitions of megabytes: null until somebody has
 * asked. It may be filled in once; all else of a version still never changes.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table flow_version add column block_count integer`,
  `create or replace function refuse_version_change() returns trigger language plpgsql as $$
  declare
    counted record;
  begin
    if tg_op = 'DELETE' and old.version is null then return old; end if;
    if tg_op = 'UPDATE' and old.block_count is null then
      counted := old;
      counted.block_count := new.block_count;
      if row_to_json(counted)::text = row_to_json(new)::text then return new; end if;
    end if;
    raise exception 'a published flow version never changes';
  end $$`,
];
