// The tables of a backup, read from PostgreSQL's catalogue, so that no list of them can be forgotten.
import type pg from 'pg';

/** A table by its name, with the columns that hold data. A partitioned table stands for its partitions. */
export type Table = { name: string; columns: string[] };

/** Selects the tables of a backup: all except unlogged tables, which a crash empties, and Kysely's own tables. */
const TABLES = `
  select c.relname as name, array(
    select attname::text from pg_attribute
    where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum
  ) as columns
  from pg_class c
  where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
    and relpersistence = 'p' and relname not like 'kysely%'
  order by relname`;

/** Lists the tables, in the order of their names. */
export async function listTables(client: pg.ClientBase): Promise<Table[]> {
  return (await client.query<Table>(TABLES)).rows;
}

/** Throws while a worker makes partitions: what is in tables that are not attached yet could not be restored. */
export function requireAttachedPartitions(tables: Table[]): void {
  if (tables.some(({ name }) => /_\d{8}_\d{8}$/.test(name)))
    throw new Error(
      'A worker is making partitions of a table at this moment: repeat the backup in a minute, with a worker running.',
    );
}
