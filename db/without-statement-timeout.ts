import { sql } from 'kysely';
import type { Db } from './connect.ts';

/** Does `work` on one connection, on which no `statement_timeout` of the role or database ends a long statement. */
export function withoutStatementTimeout<T>(db: Db, work: (connection: Db) => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    await sql`set statement_timeout = 0`.execute(connection);
    try {
      return await work(connection);
    } finally {
      // Fails where the connection is lost, of which `work` has told.
      await sql`reset statement_timeout`.execute(connection).catch(() => undefined);
    }
  });
}
