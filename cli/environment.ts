// How the command finds its service: by the service's own variables, else by the state of a local `npm start`.
import path from 'node:path';
import type { z } from 'zod';
import { encryptionKeys, pepper } from '../config/values.ts';
import type { Config } from '../config.ts';
import { isStarting } from '../embedded/processes/start-lock.ts';
import { type LocalEnvironment, readState } from '../embedded/state-folder.ts';
import { ServiceError } from '../flow/errors.ts';

const DEFAULT_URL = 'http://127.0.0.1:8787';

export function databaseUrl(): string {
  return read('DATABASE_URL') ?? missing('DATABASE_URL');
}

/** Reads the pepper from the same source as DATABASE_URL: a key made with another pepper would never work. */
export function apiKeyPepper(): string {
  const text = process.env.DATABASE_URL ? process.env.WEIR_API_KEY_PEPPER : local()?.WEIR_API_KEY_PEPPER;
  return check('WEIR_API_KEY_PEPPER', pepper, text);
}

/** Reads the keys from the same source as DATABASE_URL. */
export function secretsKeys(): Config['secretsKeys'] {
  const text = process.env.DATABASE_URL ? process.env.WEIR_SECRETS_KEYS : local()?.WEIR_SECRETS_KEYS;
  return check('WEIR_SECRETS_KEYS', encryptionKeys, text);
}

function check<T>(name: string, schema: z.ZodType<T>, text: string | undefined): T {
  const parsed = schema.safeParse(text || missing(name));
  if (parsed.success) return parsed.data;
  throw new ServiceError('VALIDATION_ERROR', `${name} ${parsed.error.issues[0]?.message}.`);
}

/** Returns the API's base URL, without a trailing slash, and a key for it. Sends the local key to no other service. */
export function apiAccess(): { url: string; key: string } {
  const url = (read('WEIR_URL') ?? DEFAULT_URL).replace(/\/+$/, '');
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new ServiceError('VALIDATION_ERROR', `WEIR_URL must be an http or https URL; it is ${url}.`);
  const key = process.env.WEIR_API_KEY || (process.env.WEIR_URL ? undefined : local()?.WEIR_API_KEY);
  if (!key && process.env.WEIR_URL)
    throw new ServiceError(
      'VALIDATION_ERROR',
      `WEIR_API_KEY is not set. Set it to a key of the service at WEIR_URL (${url}).`,
    );
  return { url, key: key ?? missing('WEIR_API_KEY') };
}

/** Returns where and how users sign in to the local `npm start`. */
export function localIdentity(): NonNullable<LocalEnvironment['identity']> {
  const identity = local()?.identity;
  if (identity) return identity;
  requireStarted();
  throw new ServiceError(
    'VALIDATION_ERROR',
    'Run npm start first: weir token works with its identity provider. With WEIR_OIDC_ISSUER set, get tokens from that provider.',
  );
}

function read(name: Exclude<keyof LocalEnvironment, 'identity'>): string | undefined {
  return process.env[name] || local()?.[name];
}

function local(): LocalEnvironment | undefined {
  return readState<LocalEnvironment>(stateFolder(), 'env.json');
}

function stateFolder(): string {
  return path.resolve(process.env.WEIR_STATE_DIR || path.join(path.dirname(import.meta.dirname), '.weir'));
}

/** Throws while `npm start` is on its way to a service, of which this command then knows nothing yet. */
function requireStarted(): void {
  if (isStarting(stateFolder()))
    throw new ServiceError(
      'CONFLICT',
      'npm start is still starting. Repeat the command when it says that Weir is ready.',
    );
}

function missing(name: string): never {
  requireStarted();
  throw new ServiceError(
    'VALIDATION_ERROR',
    `${name} is not set, and ${stateFolder()} has no state of npm start. Set ${name}, or run npm start first ` +
      '(if it ran with another folder, set WEIR_STATE_DIR to that).',
  );
}
