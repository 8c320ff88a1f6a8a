// What a caller gets when the database is away: a short wait, then a 503 that says so.
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { ServiceError } from '../flow/errors.ts';
import { hasTimedOut } from './connect.ts';

/** Together longer than a restart of PostgreSQL takes. */
const DELAYS_MS = [50, 200, 500, 1_000, 2_000];
/** Connection exceptions, serialization and deadlock, insufficient resources, operator intervention. */
const TRANSIENT_SQLSTATE = /^(08|40|53|57)/;

/**
 * Does `work` again when its connection was lost or refused; throws DATABASE_UNAVAILABLE when that does not help. An
 * attempt that failed may have been committed: `work` must come to the same when it is repeated.
 */
export async function throughOutage<T>(work: () => Promise<T>): Promise<T> {
  for (const delay of [...DELAYS_MS, undefined]) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error)) throw error;
      // Asking a silent database again would wait as long.
      if (delay === undefined || hasTimedOut(error)) break;
      await setTimeout(delay);
    }
  }
  throw new ServiceError(
    'DATABASE_UNAVAILABLE',
    'The database does not answer: try again later. Where an executionId is given, ask for that run first.',
  );
}

/** Does what cannot be repeated: once. Throws DATABASE_UNAVAILABLE when the connection was lost or refused. */
export async function unlessOutage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isTransient(error)) throw error;
    throw new ServiceError(
      'DATABASE_UNAVAILABLE',
      'The database does not answer. The change may have been made: look before you try again.',
    );
  }
}

/** `pg` reports a lost connection as a plain Error, the system's errors as one with a `syscall` or several of those. */
function isTransient(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return TRANSIENT_SQLSTATE.test(error.code ?? '');
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  return error instanceof Error && (error.constructor === Error || 'syscall' in error);
}
