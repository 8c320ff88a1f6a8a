import { ConnectionFailed } from '../db/connection/connection-failed.ts';
import { ServiceError } from '../flow/errors.ts';

/** Of Node and PostgreSQL: what a person can do something about. */
const ADVICE: { [code: string]: string } = {
  ECONNREFUSED:
    'The database cannot be reached: nothing listens where DATABASE_URL, or the state of npm start, says it is. Is the service running?',
  ENOTFOUND: 'The database cannot be reached: the host in DATABASE_URL is unknown.',
  '28P01': 'The database refused the password in DATABASE_URL.',
  '3D000': 'The database that DATABASE_URL names does not exist.',
  '42P01': 'The database has no Weir schema, or an old one: run npm run migrate.',
  '42703': 'The database has an old Weir schema: run npm run migrate.',
  '22003': 'A number is larger than any that is stored.',
};

const LOST =
  'The connection to the database was lost. The change may have been made: look before you try again.';

/** An error as a sentence for the person at the terminal; never a stack trace. */
export function describeError(error: unknown): string {
  if (error instanceof ServiceError) return error.message;
  if (error instanceof ConnectionFailed) {
    if (error.failure === 'lost') return LOST;
    return error.failure === 'silent' ? 'The database does not answer.' : describeError(error.cause);
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const cause = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return ADVICE[code] ?? (cause instanceof Error ? cause.message : String(cause));
}
