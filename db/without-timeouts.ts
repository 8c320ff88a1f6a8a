import { CompiledQuery } from 'kysely';
import type { Db } from './connect.ts';

/** PostgreSQL has `transaction_timeout` since version 17. */
const TIMEOUTS = `from pg_settings
  where name in ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`;
/** Lifts the timeouts of the session's role and database. */
export const LIFT_TIMEOUTS = `select set_config(name, '0', false) ${TIMEOUTS}`;
const RESET_TIMEOUTS = `select set_config(name, reset_val, false) ${TIMEOUTS}`;

/** Runs `work` on one connection without the timeouts of the role or database for statements and transactions. */
export function withoutTimeouts<T>(db: Db, work: (connection: Db) => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    await connection.executeQuery(CompiledQuery.raw(LIFT_TIMEOUTS));
    try {
      return await work(connection);
    } finally {
      // Fails when the connection is lost, which `work` has reported.
      await connection.executeQuery(CompiledQuery.raw(RESET_TIMEOUTS)).catch(() => undefined);
    }
  });
}
