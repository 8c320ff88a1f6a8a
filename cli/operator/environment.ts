// The configuration of commands that use the database: the variables of the service, otherwise those of a local `npm start`.
import type { z } from 'zod';
import { findStart } from '../../dev/processes/process-lock.ts';
import type { LocalEnvironment } from '../../dev/state-folder.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { Config } from '../../platform/config/config.ts';
import { isServiceVariable } from '../../platform/config/describe-unknown.ts';
import { readEnvironment, readSecret } from '../../platform/config/read-environment.ts';
import { readDatabaseUrl } from '../../platform/config/urls.ts';
import { encryptionKeys, pepper } from '../../platform/config/values.ts';
import { findLocalStart, requireStarted, stateFolder } from '../api/local-start.ts';

/**
 * Returns DATABASE_URL, otherwise the address of the database of `npm start`. Throws CONFLICT when npm start is not
 * running: a copied state folder has the address of another database.
 */
export function databaseUrl(): string {
  if (hasDatabaseUrl()) return readDatabaseUrl();
  const url = findLocalStart()?.DATABASE_URL || missing('DATABASE_URL');
  if (findStart(stateFolder())) return url;
  throw new ServiceError(
    'CONFLICT',
    `npm start is not running; ${stateFolder()} has the state of its last run. Run npm start, or set DATABASE_URL and the other ` +
      'variables of your service.',
  );
}

/** Finds the variables that npm start stored. If DATABASE_URL is set, npm start must be running on the same database. */
function findStartOfDatabase(): LocalEnvironment | undefined {
  const local = findLocalStart();
  if (!local || !hasDatabaseUrl()) return local;
  const runs = findStart(stateFolder())?.url !== undefined;
  return runs && readDatabaseUrl() === local.DATABASE_URL ? local : undefined;
}

/** Reads the pepper from the same source as DATABASE_URL: a key made with another pepper would never work. */
export function apiKeyPepper(): string {
  return check('WEIR_API_KEY_PEPPER', pepper);
}

/** Reads the keys from the same source as DATABASE_URL. */
export function secretsKeys(): Config['secretsKeys'] {
  return check('WEIR_SECRETS_KEYS', encryptionKeys);
}

/**
 * Returns the environment variables of the service: the variables of this process and, in a checkout where npm start has run,
 * the variables of that start. The latter take precedence, unless DATABASE_URL is set and may name another service.
 */
export function serviceEnvironment(): NodeJS.ProcessEnv {
  const local = findStartOfDatabase();
  if (!local) return process.env;
  const { DATABASE_URL, WEIR_API_KEY_PEPPER, WEIR_SECRETS_KEYS, WEIR_URL } = local;
  const { DEMO_BASE_URL, identity, temporal } = local;
  const { hostname, port } = new URL(WEIR_URL);
  const ofStart = {
    WEIR_HOST: hostname.replace(/^\[|\]$/g, ''),
    WEIR_PORT: port,
    ...(identity && {
      WEIR_OIDC_ISSUER: identity.issuer,
      WEIR_OIDC_AUDIENCE: identity.audience,
      WEIR_MCP_AUDIENCE: identity.mcpAudience,
    }),
    ...temporal,
    DATABASE_URL,
    WEIR_API_KEY_PEPPER,
    WEIR_SECRETS_KEYS,
    ...(DEMO_BASE_URL && { DEMO_BASE_URL }),
  };
  const set = readEnvironment(process.env);
  if (hasDatabaseUrl()) return { ...ofStart, ...set };
  // Variables of this process may be meant for another service.
  const isOther = (name: string) => isServiceVariable(name) && local.given?.includes(name) === false;
  const ofThis = Object.entries(set).filter(([name]) => !isOther(name));
  return { ...Object.fromEntries(ofThis), ...ofStart };
}

/** Lists the variables that npm start was given and that are missing in `env`. */
export function findUnsetOfStart(env: NodeJS.ProcessEnv): string[] {
  return (findStartOfDatabase()?.given ?? []).filter((name) => env[name] === undefined);
}

function check<T>(name: 'WEIR_API_KEY_PEPPER' | 'WEIR_SECRETS_KEYS', schema: z.ZodType<T>): T {
  const set = hasDatabaseUrl() ? readSecret(process.env, name) : undefined;
  const text = set ?? findStartOfDatabase()?.[name];
  const parsed = schema.safeParse(text || missing(name));
  if (parsed.success) return parsed.data;
  throw new ServiceError('VALIDATION_ERROR', `${name} ${parsed.error.issues[0]?.message}.`);
}

export function hasDatabaseUrl(): boolean {
  return Boolean(process.env.DATABASE_URL || process.env.DATABASE_URL_FILE);
}

function missing(name: string): never {
  if (hasDatabaseUrl())
    throw new ServiceError(
      'VALIDATION_ERROR',
      `${name} is not set. Set the value of the service that uses this DATABASE_URL. The value of npm start is only for its own database.`,
    );
  requireStarted();
  throw new ServiceError(
    'VALIDATION_ERROR',
    `${name} is not set, and ${stateFolder()} has no state of npm start. Set ${name}, or run npm start first ` +
      '(if npm start uses another folder, set WEIR_STATE_DIR).',
  );
}
