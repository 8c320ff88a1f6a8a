import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import type { Schema } from './schema.ts';

/** What query functions take: the pool or one transaction. */
export type Db = Kysely<Schema>;
export type Tx = Transaction<Schema>;

/** For what is done in one transaction: that of the caller, or one of its own. */
export function inTransaction<T>(db: Db | Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db as Tx) : db.transaction().execute(work);
}

const BIGINT_OID = 20;

/** No query of the service takes that long unless the database hangs: its caller is told instead of waiting with it. */
export const QUERY_TIMEOUT_MS = 20_000;

const QUERY_TIMED_OUT = 'Query read timeout';
/** Of a query; of what its transaction does next; of one for which no connection was left. */
const TIMED_OUT = [
  QUERY_TIMED_OUT,
  'Client was closed and is not queryable',
  'timeout exceeded when trying to connect',
];

/** Whether the database took too long, rather than refused or lost a connection. */
export function hasTimedOut(error: unknown): boolean {
  return error instanceof Error && TIMED_OUT.includes(error.message);
}

/** Not used again after a query that timed out: the next ones would wait behind it, on a frozen connection for ever. */
class Client extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: one body for all overloads
  override query(...args: [any]): any {
    const result = super.query(...args);
    result?.catch?.((error: Error) => {
      if (error.message === QUERY_TIMED_OUT) void this.end();
    });
    return result;
  }
}

/**
 * A pool on `url`. The caller ends it with `destroy()`. `maxConnections` bounds it; a query that has no answer after
 * `queryTimeoutMs` fails, and may still be carried out.
 */
export function connect(url: string, maxConnections = 20, queryTimeoutMs?: number): Db {
  const pool = new pg.Pool({
    Client,
    connectionString: url,
    max: maxConnections,
    ...(queryTimeoutMs !== undefined && { query_timeout: queryTimeoutMs }),
    connectionTimeoutMillis: 10_000,
    types: {
      getTypeParser: (oid, format) => (oid === BIGINT_OID ? Number : pg.types.getTypeParser(oid, format)),
    },
  });
  // An idle connection that the server closed is replaced at the next query; without a listener it ends the process.
  pool.on('error', () => undefined);
  // The same for a connection that a transaction holds between two queries: its next query fails.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
}
