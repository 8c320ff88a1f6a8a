// The only place that waits out a short outage of the database: for a connection, and for a SELECT.
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { log } from '../../platform/observability/log.ts';
import {
  connectionCount,
  connectionMax,
  connectionWaits,
} from '../../platform/observability/metrics/process-metrics.ts';
import { inSpan, isTracing } from '../../platform/observability/tracing.ts';
import {
  ConnectionFailed,
  databaseOutage,
  isTransactionConflict,
  toConnectFailure,
  toQueryFailure,
} from './database-errors.ts';
import { findWriteRefusal } from './find-write-refusal.ts';
import type { SilenceDetector } from './silence-detector.ts';

/** The service has some hundreds of statements. Statements with lists of values vary with their length. */
const summaries = new LRUCache<string, string>({ max: 2_000 });

/**
 * The position of a table or function that a statement reads or writes; not the ends of `for update` and `do update
 * set`.
 */
const TARGET =
  /\b(insert into|(?<!for |key |do )update|delete from|from|join)\s+(?:only\s+)?"?(?!select\b|lateral\b)([a-z_]+)/gi;

const WORDS_MAX = 6;

/** Time limit of a cancel request: the database is silent, or too busy to accept it. */
const CANCEL_TIMEOUT_MS = 5_000;

/** The parts of an open connection that the type definitions of `pg` lack. */
type Opened = pg.Client & { processID: number; secretKey: number; sslNegotiation: string };

type Raw = pg.Connection & {
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
};

/** Longer than a restart of PostgreSQL, and short enough to answer a request within 6 s. */
const OUTAGE_WAIT_MS = 3_500;
const DELAY_MIN_MS = 50;
const DELAY_MAX_MS = 500;
/** A database without a response by then does not take writes yet. */
const WRITE_CHECK_TIMEOUT_MS = 3_000;
/** Maximum number of repeats of a rolled-back statement outside a transaction. */
const CONFLICTS_MAX = 3;

/**
 * Begins a transaction that PostgreSQL ends after a time without statements: a frozen or lost process would hold its
 * locks without limit. Set with each begin, because poolers reject unknown session parameters, or change the
 * connection with each transaction.
 */
const BEGIN = `begin; set local idle_in_transaction_session_timeout = '30s'`;

/** Characters of a long statement in the log. */
const LOGGED_SQL_MAX_LENGTH = 1_000;

/** The database as borrowed connections see it. */
type Link = {
  silence: SilenceDetector;
  takesWrites(): Promise<boolean>;
  isLost(client: pg.ClientBase): boolean;
  /** Takes a connection, waiting for the database until then (`performance.now()`). */
  waitToTake(until: number): Promise<pg.PoolClient>;
};

/**
 * Wraps `pool` for Kysely. While the database is down, it rejects with ConnectionFailed. It waits up to 3.5 s for a
 * connection. When a connection is lost during a SELECT or the begin of a transaction, it repeats that on another
 * one. A statement outside a transaction that PostgreSQL rolled back is repeated up to three times. Nothing else is
 * repeated. SELECTs of Weir's own writing functions may be repeated safely. A statement that is given up is
 * cancelled; its connection is free once PostgreSQL has taken the cancel request.
 */
export function createResilientPool(pool: pg.Pool, silence: SilenceDetector): PostgresPool {
  const lost = new WeakSet<pg.ClientBase>();
  // Without this listener an idle connection that the server closes would end the process. The next query replaces
  // it.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => lost.add(client));
    client.on('end', () => lost.add(client));
  });

  const takesWrites = async () =>
    (await findWriteRefusal(pool.options.connectionString ?? '', WRITE_CHECK_TIMEOUT_MS)) === undefined;

  const stopMeasuring = measurePool(pool);

  async function take(): Promise<pg.PoolClient> {
    const taking = pool.connect();
    if (pool.ending) return taking;
    let given = false;
    try {
      const taken = await silence.watch(taking);
      given = true;
      return taken;
    } catch (error) {
      throw error instanceof ConnectionFailed ? error : toConnectFailure(error);
    } finally {
      // A connection that comes after its caller has given up is released.
      if (!given) taking.then((client) => client.release()).catch(() => undefined);
    }
  }

  async function waitToTake(until: number): Promise<pg.PoolClient> {
    for (let delay = DELAY_MIN_MS; ; delay = Math.min(2 * delay, DELAY_MAX_MS)) {
      try {
        return await take();
      } catch (error) {
        const mayPass = error instanceof ConnectionFailed && error.failure === 'unreachable';
        if (!mayPass || performance.now() + delay > until) throw error;
        await sleep(delay);
      }
    }
  }

  const link: Link = { silence, takesWrites, isLost: (client) => lost.has(client), waitToTake };

  return {
    options: pool.options,
    connect: async () => createBorrowed(await waitToTake(performance.now() + OUTAGE_WAIT_MS), link),
    end() {
      stopMeasuring();
      return pool.end();
    },
  };
}

/** Creates the connection for Kysely: `taken`, and another connection when a statement is repeated. */
function createBorrowed(
  taken: pg.PoolClient,
  { silence, takesWrites, isLost, waitToTake }: Link,
): PostgresPoolClient {
  let held: pg.PoolClient | undefined = taken;
  let broken: ConnectionFailed | undefined;
  /** Whether PostgreSQL may still execute a statement. A commit is not cancelled: it may wait for another server. */
  let mayGoOn = false;

  async function ask(sql: string, parameters: readonly unknown[]) {
    if (broken || !held) throw broken;
    const client = held;
    try {
      const answer = await inStatementSpan(sql, () =>
        silence.watch(client.query(sql === 'begin' ? BEGIN : sql, [...parameters])),
      );
      silence.noteResponse();
      databaseOutage.works(takesWrites);
      return answer;
    } catch (error) {
      const failed = error instanceof ConnectionFailed ? error : toQueryFailure(error, isLost(client));
      // Not used again, also when it is silent or its server is read-only: after a failover there is another server.
      if (failed instanceof ConnectionFailed) broken = failed;
      mayGoOn = sql !== 'commit' && (broken?.failure === 'slow' || broken?.failure === 'silent');
      if (broken?.failure === 'slow')
        log.warn(
          { statement: sql.slice(0, LOGGED_SQL_MAX_LENGTH) },
          'A statement took too long, and is cancelled.',
        );
      throw failed;
    }
  }

  function giveBack(): void {
    const given = held;
    held = undefined;
    if (!mayGoOn) given?.release(broken !== undefined);
    else if (given) void cancelStatement(given).then(() => given.release(true));
  }

  async function query(sql: string, parameters: readonly unknown[] = []) {
    const inTransaction = held?.getTransactionStatus() !== 'I';
    const until = performance.now() + OUTAGE_WAIT_MS;
    for (let conflicts = 0; ; conflicts += 1) {
      try {
        return await ask(sql, parameters);
      } catch (error) {
        if (inTransaction) throw error;
        if (broken?.failure === 'lost' && isRepeatable(sql) && performance.now() < until) {
          giveBack();
          held = await waitToTake(until);
          broken = undefined;
        } else if (!isTransactionConflict(error) || conflicts === CONFLICTS_MAX) throw error;
      }
    }
  }

  return { query: query as unknown as PostgresPoolClient['query'], release: giveBack };
}

/** Functions of PostgreSQL that may do more than read, such as pg_notify. */
const WRITING_FUNCTION = /\b(?:pg_(?!current_snapshot\b|snapshot_xmin\b)\w+|nextval|setval)\s*\(/i;

/** Whether a statement may be repeated: SELECTs may, except of writing functions. */
function isRepeatable(sql: string): boolean {
  return sql === 'begin' || (/^\s*select\b/i.test(sql) && !WRITING_FUNCTION.test(sql));
}

/**
 * Asks PostgreSQL to cancel the statement of `client`, over a new connection with the same TLS settings. Resolves
 * once the request is taken, at most after 5 s, and never rejects. Keep `client` open until then, because a pooler
 * forwards the request to the server that works for `client` at that moment. Do not use `client` again: the request
 * could hit its next statement.
 */
function cancelStatement(client: pg.Client): Promise<void> {
  const { host, port, ssl, sslNegotiation, processID, secretKey } = client as Opened;
  const connection = new pg.Connection({ ssl, sslNegotiation } as pg.ConnectionConfig) as Raw;
  const cancel = () => connection.cancel(processID, secretKey);
  return new Promise((resolve) => {
    const giveUp = () => void connection.stream.destroy();
    const timer = setTimeout(giveUp, CANCEL_TIMEOUT_MS);
    connection.on('error', giveUp);
    // PostgreSQL responds by closing the connection.
    connection.once('end', () => {
      clearTimeout(timer);
      resolve();
    });
    if (!ssl) connection.once('connect', cancel);
    else if (sslNegotiation !== 'direct') connection.once('connect', () => connection.requestSsl());
    connection.once('sslconnect', cancel);
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}

/** Runs a statement in a span with its operation and tables, but never its values. */
function inStatementSpan<T>(sql: string, send: () => Promise<T>): Promise<T> {
  if (!isTracing()) return send();
  let summary = summaries.get(sql);
  if (summary === undefined) {
    summary = summarize(sql);
    summaries.set(sql, summary);
  }
  const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': summary };
  return inSpan(summary, { kind: 'CLIENT', attributes }, send);
}

/** Summarizes a statement, such as `INSERT run` or `SELECT run flow_version`, by its first targets. */
function summarize(sql: string): string {
  const words: string[] = [];
  let last = '';
  for (const [, verb = '', name = ''] of sql.matchAll(TARGET)) {
    if (words.includes(name)) continue;
    const [word = ''] = verb
      .toUpperCase()
      .replace(/^(FROM|JOIN)$/, 'SELECT')
      .split(' ');
    words.push(...(word === last ? [name] : [word, name]));
    last = word;
    if (words.length >= WORDS_MAX) break;
  }
  return words.join(' ') || (/^\s*([a-z]+)/i.exec(sql)?.[1]?.toUpperCase() ?? 'SQL');
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
