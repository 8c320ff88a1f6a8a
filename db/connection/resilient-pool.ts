// The only place that waits out a short outage of the database: for a connection, and for a SELECT.
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { log } from '../../platform/observability/log.ts';
import { cancelStatement } from './cancel-statement.ts';
import { ConnectionFailed, toConnectFailure, toQueryFailure } from './connection-failed.ts';
import { ConnectionShareUsed, createConnectionTurns } from './connection-turns.ts';
import { databaseOutage } from './database-outage.ts';
import { findWriteRefusal } from './find-write-refusal.ts';
import { inStatementSpan } from './in-statement-span.ts';
import { isTransactionConflict } from './is-transaction-conflict.ts';
import { measurePool } from './measure-pool.ts';
import type { SilenceDetector } from './silence-detector.ts';

/** Longer than PostgreSQL takes to restart, and short enough to answer a request within 6 s. */
const PATIENCE_MS = 3_500;
const DELAY_MIN_MS = 50;
const DELAY_MAX_MS = 500;
/** A database that takes longer to say whether it takes writes does not take them yet. */
const WRITE_CHECK_TIMEOUT_MS = 3_000;
/** How often a statement outside a transaction is repeated that PostgreSQL rolled back in favour of another. */
const CONFLICTS_MAX = 3;

/**
 * Begins a transaction that PostgreSQL ends once nothing has come from this process for so long: one that is frozen, or whose host
 * was lost, would hold its locks without limit. Set with each begin, which also holds behind a pooler: those refuse parameters of
 * a session that they do not know, or hand out its connection for each transaction.
 */
const BEGIN = `begin; set local idle_in_transaction_session_timeout = '30s'`;

/** Characters of a long statement that the log has. */
const LOGGED_SQL_MAX_LENGTH = 1_000;

/** A connection with the turn it was taken in. */
type Taken = { client: pg.PoolClient; release(broken?: boolean): void };

/** The database as borrowed connections know it. */
type Link = {
  silence: SilenceDetector;
  takesWrites(): Promise<boolean>;
  isLost(client: pg.ClientBase): boolean;
  /** Takes a connection, waiting for the database until then (of `performance.now()`). */
  waitToTake(until: number): Promise<Taken>;
};

/**
 * Wraps `pool` for Kysely. While the database is away it rejects with ConnectionFailed. It waits up to 3.5 s for a connection.
 * When a connection is lost during a SELECT or the begin of a transaction, it repeats that on another connection. A statement
 * outside a transaction that PostgreSQL rolled back in favour of another is repeated up to three times; nothing else that has
 * begun ever is. Weir's own functions that write are called by SELECT too, and bear being repeated. A statement that is given up
 * is cancelled; until PostgreSQL has been asked to, its connection and its turn are not free.
 */
export function createResilientPool(pool: pg.Pool, silence: SilenceDetector): PostgresPool {
  const lost = new WeakSet<pg.ClientBase>();
  const takeTurn = createConnectionTurns(pool.options.max);
  // Without this listener an idle connection that the server closes would end the process; the next query replaces it.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => lost.add(client));
    client.on('end', () => lost.add(client));
  });

  const takesWrites = async () =>
    (await findWriteRefusal(pool.options.connectionString ?? '', WRITE_CHECK_TIMEOUT_MS)) === undefined;

  let waiting = 0;
  const stopMeasuring = measurePool(pool, () => waiting);

  async function takeInTurn(): Promise<Taken> {
    waiting += 1;
    const endTurn = await takeTurn().catch((error: unknown) => {
      waiting -= 1;
      throw error;
    });
    try {
      const client = await pool.connect().finally(() => {
        waiting -= 1;
      });
      return {
        client,
        release(broken) {
          client.release(broken);
          endTurn();
        },
      };
    } catch (error) {
      endTurn();
      throw error;
    }
  }

  async function take(): Promise<Taken> {
    if (pool.ending) return takeInTurn();
    const taking = takeInTurn();
    let given = false;
    try {
      const taken = await silence.watch(taking);
      given = true;
      return taken;
    } catch (error) {
      const isKnown = error instanceof ConnectionFailed || error instanceof ConnectionShareUsed;
      throw isKnown ? error : toConnectFailure(error);
    } finally {
      // A connection that comes after its caller has given up goes back.
      if (!given) taking.then((taken) => taken.release()).catch(() => undefined);
    }
  }

  async function waitToTake(until: number): Promise<Taken> {
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
    connect: async () => createBorrowed(await waitToTake(performance.now() + PATIENCE_MS), link),
    end() {
      stopMeasuring();
      return pool.end();
    },
  };
}

/** Creates what Kysely is lent: `taken`, and another connection after it where a statement is repeated. */
function createBorrowed(
  taken: Taken,
  { silence, takesWrites, isLost, waitToTake }: Link,
): PostgresPoolClient {
  let held: Taken | undefined = taken;
  let broken: ConnectionFailed | undefined;
  /** Whether PostgreSQL may still work on a statement. A commit is not to be cancelled: it may wait for another server. */
  let mayGoOn = false;

  async function ask(sql: string, parameters: readonly unknown[]) {
    if (broken || !held) throw broken;
    const { client } = held;
    try {
      const answer = await inStatementSpan(sql, () =>
        silence.watch(client.query(sql === 'begin' ? BEGIN : sql, [...parameters])),
      );
      silence.hear();
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
    else if (given) void cancelStatement(given.client).then(() => given.release(true));
  }

  async function query(sql: string, parameters: readonly unknown[] = []) {
    const inTransaction = held?.client.getTransactionStatus() !== 'I';
    const until = performance.now() + PATIENCE_MS;
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

/** Whether a statement bears being repeated: SELECTs do, except of functions that write. */
function isRepeatable(sql: string): boolean {
  return sql === 'begin' || (/^\s*select\b/i.test(sql) && !WRITING_FUNCTION.test(sql));
}
