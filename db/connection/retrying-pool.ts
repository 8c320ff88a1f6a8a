// The only place that waits out a short outage of the database. `pg` limits the time of connections and statements, `p-retry`
// repeats what may be repeated, and the silence detector ends connections of a database that answers nothing.
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pRetry from 'p-retry';
import pg from 'pg';
import { log } from '../../platform/observability/log.ts';
import {
  connectionCount,
  connectionMax,
  connectionWaits,
} from '../../platform/observability/metrics/process-metrics.ts';
import {
  ConnectionFailed,
  databaseOutage,
  isTransactionConflict,
  toConnectFailure,
  toQueryFailure,
} from './database-errors.ts';
import { findWriteRefusal } from './find-write-refusal.ts';
import { createSilenceDetector } from './silence-detector.ts';
import { inStatementSpan } from './statement-span.ts';

/** How long a statement waits for a connection. */
export const CONNECTION_TIMEOUT_MS = 5_000;
/** The time in which PostgreSQL tells that it has cancelled a statement. A commit is never cancelled, and may take as long. */
const CANCEL_MS = 5_000;
const KEEP_ALIVE_MS = 10_000;
/** A database without a response by then does not take writes yet. */
const WRITE_CHECK_TIMEOUT_MS = 3_000;
/** Characters of a long statement in the log. */
const LOGGED_SQL_MAX_LENGTH = 1_000;

/** Longer than a restart of PostgreSQL, and short enough to answer a request within 6 s. */
const RETRIES = { retries: Number.POSITIVE_INFINITY, minTimeout: 50, maxTimeout: 500, maxRetryTime: 3_500 };

/**
 * Opens a pool for Kysely. While the database is down, statements reject with ConnectionFailed. For up to 3.5 s, a statement
 * outside a transaction is repeated: when no connection can be opened, when PostgreSQL rolled it back, and, for a SELECT or
 * the begin of a transaction, when its connection is lost. Nothing else is repeated. SELECTs of Weir's own writing functions
 * may be repeated safely. PostgreSQL cancels a statement after `statementTimeoutMs`, and ends a transaction that is idle for
 * 30 s, because a frozen process would hold its locks without limit.
 */
export function createRetryingPool(
  config: pg.PoolConfig & { connectionString: string },
  statementTimeoutMs: number | undefined,
): PostgresPool {
  const silence = createSilenceDetector(config.connectionString);
  const lost = new WeakSet<pg.ClientBase>();
  const ofStatements =
    statementTimeoutMs === undefined ? '' : `; set statement_timeout = ${statementTimeoutMs}`;
  const limits = `set idle_in_transaction_session_timeout = '30s'${ofStatements}`;
  const pool = new pg.Pool({
    ...config,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    ...(statementTimeoutMs !== undefined && { query_timeout: statementTimeoutMs + CANCEL_MS }),
    // Not as parameters of the connection, because poolers reject unknown ones.
    onConnect: (client) =>
      silence.watch(client, client.query(limits)).catch((error: unknown) => {
        silence.forget(client);
        throw error;
      }),
  });
  // Without this listener an idle connection that the server closes would end the process. The next query replaces
  // it.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => lost.add(client));
    client.on('end', () => lost.add(client));
  });
  pool.on('remove', silence.forget);
  const stopMeasuring = measurePool(pool);
  const takesWrites = async () =>
    (await findWriteRefusal(config.connectionString, WRITE_CHECK_TIMEOUT_MS)) === undefined;

  /** Creates the connection for Kysely: of the pool, from the first statement on. */
  function borrow(): PostgresPoolClient {
    let client: pg.PoolClient | undefined;
    let broken: ConnectionFailed | undefined;
    let returned = false;

    async function ask(sql: string, parameters: readonly unknown[]) {
      client ??= await pool.connect().catch((error: unknown) => {
        throw pool.ending ? error : toConnectFailure(error);
      });
      const asked = client;
      try {
        const answer = await inStatementSpan(sql, () =>
          silence.watch(asked, asked.query(sql, [...parameters])),
        );
        databaseOutage.works(takesWrites);
        return answer;
      } catch (error) {
        const failed = toQueryFailure(error, lost.has(asked));
        // Not used again, also when its server is read-only: after a failover there is another server.
        if (failed instanceof ConnectionFailed) broken = failed;
        if (broken?.failure === 'slow')
          log.warn(
            { statement: sql.slice(0, LOGGED_SQL_MAX_LENGTH) },
            'A statement took too long, and is cancelled.',
          );
        throw failed;
      }
    }

    function giveBack(): void {
      client?.release(broken !== undefined);
      client = undefined;
      broken = undefined;
    }

    async function query(sql: string, parameters: readonly unknown[] = []) {
      if (returned) throw new Error('The connection was released already.');
      if (broken) throw broken;
      if (client && client.getTransactionStatus() !== 'I') return ask(sql, parameters);
      return pRetry(
        () => {
          if (broken) giveBack();
          return ask(sql, parameters);
        },
        { ...RETRIES, shouldRetry: ({ error }) => mayPass(error, sql) },
      );
    }

    return {
      query: query as unknown as PostgresPoolClient['query'],
      release() {
        giveBack();
        returned = true;
      },
    };
  }

  return {
    options: pool.options,
    connect: async () => borrow(),
    async end() {
      stopMeasuring();
      await pool.end();
      silence.close();
    },
  };
}

/** Whether a statement that failed outside a transaction may be repeated. */
function mayPass(error: unknown, sql: string): boolean {
  if (!(error instanceof ConnectionFailed)) return isTransactionConflict(error);
  return error.failure === 'unreachable' || (error.failure === 'lost' && isRepeatable(sql));
}

/** Functions of PostgreSQL that may do more than read, such as pg_notify. */
const WRITING_FUNCTION = /\b(?:pg_(?!current_snapshot\b|snapshot_xmin\b)\w+|nextval|setval)\s*\(/i;

/** Whether a statement may be repeated: SELECTs may, except of writing functions. */
function isRepeatable(sql: string): boolean {
  return sql === 'begin' || (/^\s*select\b/i.test(sql) && !WRITING_FUNCTION.test(sql));
}

/** Reports the connections of a pool, and its queue, as metrics until the returned function is called. */
function measurePool(pool: pg.Pool): () => void {
  const stops = [
    connectionCount.observe(() => [
      { value: pool.totalCount - pool.idleCount, labels: { 'db.client.connection.state': 'used' } },
      { value: pool.idleCount, labels: { 'db.client.connection.state': 'idle' } },
    ]),
    connectionMax.observe(() => [{ value: pool.options.max }]),
    connectionWaits.observe(() => [{ value: pool.waitingCount }]),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
