// db/ is the only way to PostgreSQL: in go ids and values, out come rows; rules that only the database can check throw
// ServiceError. Each folder holds the queries of one subject; connection/ waits out short outages. Start with this file, then
// schema.ts.
import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import type { ObjectStore } from '../platform/object-store/object-store.ts';
import { isTransactionConflict } from './connection/is-transaction-conflict.ts';
import { createResilientPool } from './connection/resilient-pool.ts';
import { createSilenceDetector } from './connection/silence-detector.ts';
import type { Schema } from './schema.ts';

/**
 * The database. Query functions take it, or one of its transactions, first. `objects`: the store of large values beside it,
 * which a transaction does not have.
 */
export type Db = Kysely<Schema> & { readonly objects?: ObjectStore | undefined };
export type Tx = Transaction<Schema>;

/** A whole transaction is repeated at most this often. */
const REPEATS_MAX = 3;

/**
 * Does `work` in the caller's transaction, or in one of its own, which is repeated when PostgreSQL rolled it back because of a
 * deadlock. In which order rows are locked, so that there is none: docs/design.md, "Rows are locked in one order".
 */
export async function inTransaction<T>(db: Db | Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db as Tx);
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (!isTransactionConflict(error) || repeats === REPEATS_MAX) throw error;
    }
  }
}

const BIGINT_OID = 20;

/** A query takes this long only when something hangs; it is cancelled then, so that neither its caller nor PostgreSQL hangs. */
export const QUERY_TIMEOUT_MS = 20_000;

/**
 * Opens a pool of up to `maxConnections` on `url`, which the caller closes with `destroy()`. A query without an answer after
 * `queryTimeoutMs` fails and is cancelled, and may have been carried out. While the database is away, everything rejects with
 * ConnectionFailed; connecting and plain reads outside transactions do so after a wait of seconds. The caller closes `objects`.
 */
export function connect(
  url: string,
  maxConnections = 20,
  queryTimeoutMs?: number,
  objects?: ObjectStore | undefined,
): Db {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    ...(queryTimeoutMs !== undefined && { query_timeout: queryTimeoutMs }),
    connectionTimeoutMillis: 10_000,
    types: {
      getTypeParser: (oid, format) => (oid === BIGINT_OID ? Number : pg.types.getTypeParser(oid, format)),
    },
  });
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: createResilientPool(pool, createSilenceDetector(url)) }),
  });
  return Object.assign(db, { objects });
}
