import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import type { Schema } from './schema.ts';

/** What query functions take: the pool or one transaction. */
export type Db = Kysely<Schema>;
export type Tx = Transaction<Schema>;

const BIGINT_OID = 20;

/** No query of the service takes that long unless the database hangs: its caller is told instead of waiting with it. */
export const QUERY_TIMEOUT_MS = 20_000;

/**
 * A pool on `url`. The caller ends it with `destroy()`. `maxConnections` bounds it; a query that has no answer after
 * `queryTimeoutMs` fails, and may still be carried out.
 */
export function connect(url: string, maxConnections = 20, queryTimeoutMs?: number): Db {
  const pool = new pg.Pool({
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
