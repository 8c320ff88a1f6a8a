import type { ConnectionFailed } from '../../db/connection/database-errors.ts';
import { FREE_CONNECTIONS } from '../../db/connection/free-connections.ts';
import { OTHER_CLUSTER } from '../../dev/state-folder.ts';
import { ServiceError } from '../../flow/errors.ts';
import { type Detail, Refusal, Unreachable } from '../api/to-error.ts';

/** Advice by error code of Node.js or PostgreSQL, for errors that a person can do something about. */
const ADVICE: { [code: string]: string } = {
  ECONNREFUSED:
    'The database cannot be reached: no server listens at DATABASE_URL (or, if that is not set, where npm start had its database). Start the service, or correct DATABASE_URL.',
  ENOTFOUND: 'The database cannot be reached: the host in DATABASE_URL does not exist. Correct DATABASE_URL.',
  '25006':
    'The database takes no changes, and nothing was changed: it is a standby (connect to the primary), or default_transaction_read_only is on (reset it).',
  '28P01': `The database refused the user or password in DATABASE_URL. Correct DATABASE_URL; where that is not set, ${OTHER_CLUSTER}`,
  '53300': `PostgreSQL has no free connection: ${FREE_CONNECTIONS}.`,
  '3D000':
    'The database in DATABASE_URL does not exist. Create it, or correct DATABASE_URL; where that is not set, the first npm start was cut off: delete its state folder to start afresh.',
  '42P01': 'The database has no Weir schema, or an old one. Run npm run migrate.',
  '42703': 'The database has an old Weir schema. Run npm run migrate.',
  ERR_MODULE_NOT_FOUND: 'A package is missing. Run npm ci in the checkout.',
  '22003': 'A number is too large to be stored. Use a smaller one.',
};

const LOST =
  'The connection to the database was lost. The change may have been made: check before you try again.';
const SLOW = 'A statement took over 20 s, and was cancelled. It changed nothing: try again later.';

/** Finds out by name: the class would load the database's driver for every command. */
function isConnectionFailed(error: unknown): error is ConnectionFailed {
  return error instanceof Error && error.name === 'ConnectionFailed';
}

/** Describes an error as the HTTP API does, with the fields of the service's own `detail`. */
export function toDetail(error: unknown): Detail {
  if ((error instanceof Refusal || error instanceof Unreachable) && error.detail) return error.detail;
  const message = describeError(error);
  if (error instanceof ServiceError) return { ...error.extra, code: error.code, message };
  return { code: error instanceof Unreachable ? error.code : 'COMMAND_FAILED', message };
}

/** Describes an error in a sentence for the person at the terminal, never as a stack trace. */
export function describeError(error: unknown): string {
  if (error instanceof ServiceError) return error.message;
  if (isConnectionFailed(error)) {
    if (error.failure === 'lost') return LOST;
    if (error.failure === 'slow') return SLOW;
    return error.failure === 'silent'
      ? 'The database does not answer. Try again later.'
      : describeError(error.cause);
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const cause = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return ADVICE[code] ?? (cause instanceof Error ? cause.message : String(cause));
}
