// Errors of PostgreSQL and its driver: outages, faults, and conflicts to repeat.
import pg from 'pg';
import { findAddressRefusal } from './find-address-refusal.ts';

/**
 * The kind of outage. `unreachable`: no connection could be opened, and nothing was sent. `lost`: the connection was
 * lost during a statement, which may have been executed. `silent`: no response in time; the statement may still be
 * executed. `slow`: one statement took too long while others get responses; it was cancelled, and may have been
 * executed. `refused`: the database cannot serve at the moment, and did nothing.
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
  /** Whether the statement may have been executed. */
  readonly mayBeCarriedOut: boolean;

  constructor(failure: ConnectionFailure, cause: unknown) {
    super(describeFailure(failure, cause), { cause });
    this.failure = failure;
    this.mayBeCarriedOut = ['lost', 'silent', 'slow'].includes(failure);
    this.refusesWrites = cause instanceof pg.DatabaseError && WRITES_REFUSED.test(cause.code ?? '');
  }
}

/** The message of `pg` for a slow statement. A silent database is detected earlier. */
const STATEMENT_TIMED_OUT = 'Query read timeout';

/** The messages of `pg` for a connection that took too long. */
const CONNECTION_TIMED_OUT = [
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated due to connection timeout',
];

/** Connection exceptions, operator interventions, and timeouts of a whole transaction: the connection is gone. */
const LOST = /^(08|57P0[1-5]|25P0[34])/;
/** Insufficient resources (too many connections, a full disk), a cancelled statement, a read-only database. */
const REFUSED = /^(53|57014|25006)/;

const READ_ONLY = '25006';

/** A full disk, and a database that is read-only. */
const WRITES_REFUSED = /^(53100|25006)$/;

/** Turns a statement's error into ConnectionFailed when the database is down. `lost`: the connection is gone. */
export function toQueryFailure(error: unknown, lost: boolean): unknown {
  if (error instanceof pg.DatabaseError) {
    const { code = '' } = error;
    if (LOST.test(code)) return new ConnectionFailed('lost', error);
    return REFUSED.test(code) ? new ConnectionFailed('refused', error) : error;
  }
  if (error instanceof Error && error.message === STATEMENT_TIMED_OUT)
    return new ConnectionFailed('slow', error);
  return lost ? new ConnectionFailed('lost', error) : error;
}

/** Turns the error of opening a connection into ConnectionFailed: `refused` for a wrong password or database. */
export function toConnectFailure(error: unknown): ConnectionFailed {
  if (error instanceof Error && CONNECTION_TIMED_OUT.includes(error.message))
    return new ConnectionFailed('silent', error);
  const refused = error instanceof pg.DatabaseError && /^(28|3D)/.test(error.code ?? '');
  return new ConnectionFailed(refused ? 'refused' : 'unreachable', error);
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
