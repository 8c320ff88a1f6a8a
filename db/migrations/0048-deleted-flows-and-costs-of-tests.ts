import { type Kysely, sql } from 'kysely';

/**
 * Versions of a deleted flow may be deleted, once nothing refers to them; those of other flows still never change. The result of a
 * test has its cost, so that no list adds up the blocks of thousands of runs; null before the verdict, and in older ones.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table test_result add column cost_microcredits bigint`,
  `create or replace function refuse_version_change() returns trigger language plpgsql as $$
  declare
    counted record;
  begin
    if tg_op = 'DELETE' then
      if old.version is null then return old; end if;
      if exists (select from flow where id = old.flow_id and deleted_at is not null) then return old; end if;
    elsif old.block_count is null then
      counted := old;
      counted.block_count := new.block_count;
      if row_to_json(counted)::text = row_to_json(new)::text then return new; end if;
    end if;
    raise exception 'a published flow version never changes';
  end $$`,
];
