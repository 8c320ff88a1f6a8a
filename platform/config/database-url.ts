import { readSecret } from './read-environment.ts';
import { postgresUrl } from './values.ts';

/**
 * Adds PGPASSWORD to the address of the database, unless that has a password: `pg` would find the variable by itself, but
 * not when its value comes from a file.
 */
export function withPassword(databaseUrl: string, password: string | undefined): string {
  if (password === undefined) return databaseUrl;
  const url = new URL(databaseUrl);
  if (url.password !== '' || url.searchParams.has('password')) return databaseUrl;
  // As a parameter, because an address of a socket has no host to put it in front of.
  url.searchParams.set('password', password);
  return url.href;
}

/** Reads DATABASE_URL and the password alone, for programs that need nothing else. */
export function readDatabaseUrl(env: NodeJS.ProcessEnv = process.env): string {
  const { success, data } = postgresUrl.safeParse(readSecret(env, 'DATABASE_URL'));
  if (success) return withPassword(data, readSecret(env, 'PGPASSWORD'));
  throw new Error('DATABASE_URL must be the postgres:// address of the database.');
}
