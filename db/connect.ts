// db/ is the only way to PostgreSQL. Queries take ids and values and return rows; they throw ServiceError for rules
// that only the database can check. Each folder holds the queries of one subject; connection/ waits out short
// outages. Start with this file, then schema.ts.
import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pRetry from 'p-retry';
import pg from 'pg';
import type { ObjectStore } from '../platform/object-store/object-store.ts';
import { isTransactionConflict } from './connection/database-errors.ts';
import { createRetryingPool } from './connection/retrying-pool.ts';
import type { Schema } from './schema.ts';

/**
 * The database. Query functions take it, or one of its transactions, as first parameter. `objects`: the store of
 * large values, which transactions do not have.
 */
export type Db = Kysely<Schema> & { readonly objects?: ObjectStore | undefined };
export type Tx = Transaction<Schema>;

/** Maximum number of repeats of a transaction. */
const REPEATS_MAX = 3;

/**
 * Runs `work` in the caller's transaction, or in a new one, which is repeated after a deadlock. For the order of
 * locks that avoids deadlocks, see docs/decisions/0018-lock-order.md.
 */
export async function inTransaction<T>(db: Db | Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db as Tx);
  return pRetry(() => db.transaction().execute(work), {
    retries: REPEATS_MAX,
    minTimeout: 0,
    shouldRetry: ({ error }) => isTransactionConflict(error),
  });
}

const BIGINT_OID = 20;

/** Timeout of a statement. Only a hanging one takes so long. PostgreSQL cancels it, so that its caller does not hang either. */
export const QUERY_TIMEOUT_MS = 20_000;

/**
 * Opens a pool of up to `maxConnections` on `url`. A statement that takes longer than `queryTimeoutMs` is cancelled. During an
 * outage, all statements reject with ConnectionFailed; new connections and reads outside transactions retry for some
 * seconds first. The caller closes the pool with `destroy()`, and closes `objects`.
 */
export function connect(
  url: string,
  maxConnections = 20,
  queryTimeoutMs?: number,
  objects?: ObjectStore | undefined,
): Db {
  const types: pg.CustomTypesConfig = {
    getTypeParser: (oid, format) => (oid === BIGINT_OID ? Number : pg.types.getTypeParser(oid, format)),
  };
  const pool = createRetryingPool({ connectionString: url, max: maxConnections, types }, queryTimeoutMs);
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  return Object.assign(db, { objects });
}

/** Creates a function that runs reads. Concurrent callers with the same `key` share one result. */
export function createSharedReads() {
  const underWay = new Map<string, Promise<unknown>>();
  return function share<T>(key: string, read: () => Promise<T>): Promise<T> {
    const begun = underWay.get(key) as Promise<T> | undefined;
    if (begun) return begun;
    const reading = read().finally(() => underWay.delete(key));
    underWay.set(key, reading);
    return reading;
  };
}
