// URLs in the configuration: the service's own, the database's, and those of this machine.
import { readSecret } from './read-environment.ts';
import { postgresUrl } from './values.ts';

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

type Values = { WEIR_PUBLIC_URL?: string | undefined; WEIR_HOST: string; WEIR_PORT: number };

/** Reads the URL at which callers reach the API, without a slash at its end; undefined where it is not set. */
export function readPublicUrl(values: Pick<Values, 'WEIR_PUBLIC_URL'>): string | undefined {
  return values.WEIR_PUBLIC_URL?.replace(/\/+$/, '');
}

/** Reads that URL, or else makes it of the host and port on which the API listens. */
export function readBaseUrl(values: Values): string {
  const host = values.WEIR_HOST.includes(':') ? `[${values.WEIR_HOST}]` : values.WEIR_HOST;
  return readPublicUrl(values) ?? `http://${host}:${values.WEIR_PORT}`;
}

/** Whether a host, as a URL names it, is this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.includes(hostname);
}

/** Lists a URL of this machine under each of its names, as it was given first; any other URL alone. */
export function loopbackUrls(url: string): [string, ...string[]] {
  const parsed = URL.parse(url);
  if (!parsed || !isLoopback(parsed.hostname)) return [url];
  const others = LOOPBACK.filter((name) => name !== parsed.hostname);
  return [url, ...others.map((name) => url.replace(`//${parsed.hostname}`, `//${name}`))];
}

/**
 * Adds PGPASSWORD to the address of the database, unless the address has a password. `pg` reads the variable, but not a
 * value from a file.
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
