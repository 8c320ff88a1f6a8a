import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { isTransactionConflict } from './connection/is-transaction-conflict.ts';
import { createResilientPool } from './connection/resilient-pool.ts';
import { createSilenceDetector } from './connection/silence-detector.ts';
import type { Schema } from './schema.ts';

/** What query functions take: the pool or one transaction. */
export type Db = Kysely<Schema>;
export type Tx = Transaction<Schema>;

/** Whole transactions are repeated at most this often. */
const CONFLICTS_MAX = 3;

/**
 * For what is done in one transaction: that of the caller, or one of its own, which is done again when PostgreSQL undid
 * it because of a deadlock.
 */
export async function inTransaction<T>(db: Db | Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db as Tx);
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (!isTransactionConflict(error) || conflicts === CONFLICTS_MAX) throw error;
    }
  }
}

const BIGINT_OID = 20;

/** No query of the service takes that long unless something hangs: its caller is told instead of waiting with it. */
export const QUERY_TIMEOUT_MS = 20_000;

/**
 * A pool on `url`. The caller ends it with `destroy()`. `maxConnections` bounds it; a query that has no answer after
 * `queryTimeoutMs` fails, and may still be carried out. When the database is away, everything rejects with
 * ConnectionFailed: a connection that cannot be had, and plain reads outside transactions, after a wait of seconds.
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
  return new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: createResilientPool(pool, createSilenceDetector(url)) }),
  });
}
