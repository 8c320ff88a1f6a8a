import { sql } from 'kysely';
import type { Db } from '../connect.ts';

/** Returns the bytes of the databases of this PostgreSQL server that the role may measure: they share its disk. */
export async function measureDatabases(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(pg_database_size(oid)), 0)::float8 as bytes
    from pg_database where has_database_privilege(oid, 'connect')`.execute(db);
  return rows[0]?.bytes ?? 0;
}
