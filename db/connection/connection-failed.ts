import pg from 'pg';

/**
 * How the database is away: no connection could be had and nothing was sent (`unreachable`); a connection was lost under
 * a statement, which may have been carried out (`lost`); no answer came in time, to a statement that may yet be carried
 * out (`silent`); the database answered that it cannot serve at the moment, and did nothing (`refused`).
 */
export type ConnectionFailure = 'unreachable' | 'lost' | 'silent' | 'refused';

/** The database is away. Its `cause` is what the driver said. Every other error of a query is a fault, never an outage. */
export class ConnectionFailed extends Error {
  override readonly name = 'ConnectionFailed';
  readonly failure: ConnectionFailure;

  constructor(failure: ConnectionFailure, cause: unknown) {
    super(`The database is ${failure === 'refused' ? 'refusing its service' : failure}: ${describe(cause)}`, {
      cause,
    });
    this.failure = failure;
  }
}

/** What `pg` says of a statement, or of a connection to be had, that took too long. */
const TIMED_OUT = [
  'Query read timeout',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated due to connection timeout',
];

/** Connection exceptions and the operator's interventions: the connection is gone. */
const LOST = /^(08|57P0[1-5])/;
/** Insufficient resources (too many connections, a full disk), a statement cut short, a database that takes no writes. */
const REFUSED = /^(53|57014|25006)/;

/** The error of a statement, as ConnectionFailed when the database is away; `lost`: its connection is gone. */
export function toQueryFailure(error: unknown, lost: boolean): unknown {
  if (error instanceof pg.DatabaseError) {
    const { code = '' } = error;
    if (LOST.test(code)) return new ConnectionFailed('lost', error);
    return REFUSED.test(code) ? new ConnectionFailed('refused', error) : error;
  }
  if (hasTimedOut(error)) return new ConnectionFailed('silent', error);
  return lost ? new ConnectionFailed('lost', error) : error;
}

/** The error of a connection that could not be had. A wrong password does not come right by waiting. */
export function toConnectFailure(error: unknown): ConnectionFailed {
  if (hasTimedOut(error)) return new ConnectionFailed('silent', error);
  const refused = error instanceof pg.DatabaseError && /^(28|3D)/.test(error.code ?? '');
  return new ConnectionFailed(refused ? 'refused' : 'unreachable', error);
}

function hasTimedOut(error: unknown): boolean {
  return error instanceof Error && TIMED_OUT.includes(error.message);
}

/** An AggregateError, of a host with several addresses, has no message of its own. */
function describe(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(describe).join('; ');
  return cause instanceof Error ? cause.message : String(cause);
}
