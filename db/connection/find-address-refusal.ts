import pg from 'pg';

/** Rejections that require a change of DATABASE_URL, by SQLSTATE. */
const REFUSALS: { [sqlState: string]: string } = {
  '28P01': 'refuses the password: correct DATABASE_URL (or PGPASSWORD)',
  '28000': 'refuses the user: correct DATABASE_URL, or let that user connect',
  '3D000': 'is not there by that name: correct DATABASE_URL',
};

/** The message of `pg` for a server without TLS; the error has no code. */
const NO_TLS = 'The server does not support SSL connections';

/** Finds what to change in DATABASE_URL, as the end of "The database …", by the driver's error. */
export function findAddressRefusal(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return REFUSALS[error.code ?? ''];
  if (!(error instanceof Error) || error.message !== NO_TLS) return undefined;
  return 'has no TLS: correct sslmode in DATABASE_URL, or turn TLS on in PostgreSQL';
}
