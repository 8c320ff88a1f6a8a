import type pg from 'pg';

/** All that migrations make. Partitions, indexes, triggers and sequences go with their tables. */
const DROPS = `
  select format('drop table if exists %I cascade', relname) as statement from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
  union all
  select format('drop routine if exists %s cascade', oid::regprocedure) from pg_proc
    where pronamespace = current_schema()::regnamespace
      and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')`;

/** Drops the tables and functions of the schema. What extensions have made stays. */
export async function dropEverything(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(DROPS);
  for (const { statement } of rows) await client.query(statement);
}
