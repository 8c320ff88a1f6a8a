import type pg from 'pg';

type Dropped = { drop: string; make: string };

/** Foreign keys and triggers, but not what partitions have of them: that comes and goes with the parent's. */
const CHECKS = `
  select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
    format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as make
  from pg_constraint
  where connamespace = current_schema()::regnamespace and contype = 'f' and conparentid = 0
  union all
  select format('drop trigger %I on %s', t.tgname, t.tgrelid::regclass), pg_get_triggerdef(t.oid)
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal and t.tgparentid = 0`;

/**
 * Loads rows by `load` while there are neither foreign keys, which would ask for an order of tables and rows, nor triggers,
 * which would do again what they did for these rows. Both are made again: the foreign keys check all rows. (To switch them
 * off instead takes a superuser.)
 */
export async function withoutChecks(client: pg.ClientBase, load: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<Dropped>(CHECKS);
  for (const { drop } of rows) await client.query(drop);
  await load();
  for (const { make } of rows) await client.query(make);
}
