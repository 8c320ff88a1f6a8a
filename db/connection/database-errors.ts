// Errors of PostgreSQL and its driver: outages, faults, and conflicts to repeat.

import pRetry from 'p-retry';
import pg from 'pg';
import { createOutageLog } from '../../platform/observability/outage-log.ts';
import { NoAnswer } from './silence-detector.ts';

/** The log of database outages, shared by the whole process. */
export const databaseOutage = createOutageLog('The database');

/** Delays of 50, 200 and 500 ms. */
const REPEATS = { retries: 3, minTimeout: 50, factor: 4, maxTimeout: 500 };

const LOCK_NOT_AVAILABLE = '55P03';

const TOO_MANY_CONNECTIONS = '53300';

/** Rejections that require a change of DATABASE_URL, by SQLSTATE. */
const REFUSALS: { [sqlState: string]: string } = {
  '28P01': 'refuses the password: correct DATABASE_URL (or PGPASSWORD)',
  '28000': 'refuses the user: correct DATABASE_URL, or let that user connect',
  '3D000': 'is not there by that name: correct DATABASE_URL',
};

/** The message of `pg` for a server without TLS; the error has no code. */
const NO_TLS = 'The server does not support SSL connections';

/**
 * The kind of outage. `unreachable`: no connection was opened, and nothing was sent. `lost`: the connection broke during
 * a statement, with an unknown outcome. `silent`: no response in time; the statement may still run. `slow`: PostgreSQL
 * cancelled a statement that took too long. `refused`: the database cannot serve now, and did nothing.
 */
type ConnectionFailure = 'unreachable' | 'lost' | 'silent' | 'slow' | 'refused';

/**
 * The database is down, or a statement took too long; `cause` is the driver's error. Every other error of a query is
 * a fault.
 */
export class ConnectionFailed extends Error {
  override readonly name = 'ConnectionFailed';
  readonly failure: ConnectionFailure;
  /** Whether the database rejects writes but may serve reads. */
  readonly refusesWrites: boolean;
  /** Whether the outcome of the statement is unknown. */
  readonly mayBeCarriedOut: boolean;

  constructor(failure: ConnectionFailure, cause: unknown) {
    super(describeFailure(failure, cause), { cause });
    this.failure = failure;
    this.mayBeCarriedOut = failure === 'lost' || failure === 'silent';
    this.refusesWrites = cause instanceof pg.DatabaseError && WRITES_REFUSED.test(cause.code ?? '');
  }
}

/** The messages of `pg` for a connection, or the answer to a statement, that took too long. */
const TIMED_OUT = [
  'Query read timeout',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated due to connection timeout',
];

/** Connection exceptions, operator interventions, and timeouts of a whole transaction: the connection is gone. */
const LOST = /^(08|57P0[1-5]|25P0[34])/;
/** Insufficient resources (too many connections, a full disk), a read-only database. */
const REFUSED = /^(53|25006)/;

const QUERY_CANCELED = '57014';

const READ_ONLY = '25006';

/** A full disk, and a database that is read-only. */
const WRITES_REFUSED = /^(53100|25006)$/;

/** Turns a statement's error into ConnectionFailed when the database is down. `lost`: the connection is gone. */
export function toQueryFailure(error: unknown, lost: boolean): unknown {
  if (error instanceof pg.DatabaseError) {
    const { code = '' } = error;
    if (LOST.test(code)) return new ConnectionFailed('lost', error);
    if (code === QUERY_CANCELED) return new ConnectionFailed('slow', error);
    return REFUSED.test(code) ? new ConnectionFailed('refused', error) : error;
  }
  if (isSilence(error)) return new ConnectionFailed('silent', error);
  return lost ? new ConnectionFailed('lost', error) : error;
}

/** Turns the error of opening a connection into ConnectionFailed: `refused` for a wrong password or database. */
export function toConnectFailure(error: unknown): ConnectionFailed {
  if (isSilence(error)) return new ConnectionFailed('silent', error);
  const refused = error instanceof pg.DatabaseError && /^(28|3D)/.test(error.code ?? '');
  return new ConnectionFailed(refused ? 'refused' : 'unreachable', error);
}

function isSilence(error: unknown): boolean {
  return error instanceof NoAnswer || (error instanceof Error && TIMED_OUT.includes(error.message));
}

function describeFailure(failure: ConnectionFailure, cause: unknown): string {
  const refusal = findAddressRefusal(cause);
  if (cause instanceof pg.DatabaseError && cause.code === READ_ONLY)
    return `The database is read-only (a standby, or default_transaction_read_only): ${describe(cause)}`;
  if (refusal) return `The database ${refusal} (${describe(cause)})`;
  if (failure === 'slow') return `A statement took too long: ${describe(cause)}`;
  return `The database is ${failure === 'refused' ? 'refusing service' : failure}: ${describe(cause)}`;
}

/** The AggregateError of a host with several addresses has no message. */
function describe(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(describe).join('; ');
  return cause instanceof Error ? cause.message : String(cause);
}

/** Finds what to change in DATABASE_URL, as the end of "The database …", by the driver's error. */
export function findAddressRefusal(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return REFUSALS[error.code ?? ''];
  if (!(error instanceof Error) || error.message !== NO_TLS) return undefined;
  return 'has no TLS: correct sslmode in DATABASE_URL, or turn TLS on in PostgreSQL';
}

/** Whether PostgreSQL rejected a connection because all allowed ones are in use. Open connections still work. */
export function isOutOfConnections(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === TOO_MANY_CONNECTIONS;
}

/** Whether a statement did not get a lock within `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE;
}

/**
 * Whether PostgreSQL rolled a transaction back in favour of another (serialization failure, deadlock), so that it can
 * be repeated.
 */
export function isTransactionConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^40(001|P01)$/.test(error.code ?? '');
}

/**
 * Whether the database can never store a value (too large, not a number, U+0000 in a text), so that repeating does
 * not help.
 */
export function isUnstorableValue(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(22|54)/.test(error.code ?? '');
}

/**
 * Repeats an idempotent write after a lost connection or a rollback by PostgreSQL. The lost write may be executed, so a
 * repeat must change nothing. Does not wait for the end of an outage; the pool waits. Only for writes without another
 * retry.
 */
export function repeatLostWrite<T>(write: () => Promise<T>): Promise<T> {
  const wasLost = (error: Error) => error instanceof ConnectionFailed && error.failure === 'lost';
  return pRetry(write, {
    ...REPEATS,
    shouldRetry: ({ error }) => wasLost(error) || isTransactionConflict(error),
  });
}

/**
 * Logs a database outage, in one line for all; returns whether the error is an outage. A slow statement is one, but is logged
 * elsewhere.
 */
export function logOutage(error: unknown): boolean {
  if (!(error instanceof ConnectionFailed)) return false;
  if (error.failure === 'slow') return true;
  databaseOutage.failed(error.message, { inPart: error.refusesWrites });
  return true;
}
