// The configuration of the operator's commands: the service's own variables, else those of a local `npm start`.
import type { z } from 'zod';
import { encryptionKeys, pepper } from '../../config/values.ts';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findLocalStart, requireStarted, stateFolder } from '../api/local-start.ts';

export function databaseUrl(): string {
  return process.env.DATABASE_URL || findLocalStart()?.DATABASE_URL || missing('DATABASE_URL');
}

/** Reads the pepper from the same source as DATABASE_URL: a key made with another pepper would never work. */
export function apiKeyPepper(): string {
  return check('WEIR_API_KEY_PEPPER', pepper);
}

/** Reads the keys from the same source as DATABASE_URL. */
export function secretsKeys(): Config['secretsKeys'] {
  return check('WEIR_SECRETS_KEYS', encryptionKeys);
}

function check<T>(name: 'WEIR_API_KEY_PEPPER' | 'WEIR_SECRETS_KEYS', schema: z.ZodType<T>): T {
  const text = process.env.DATABASE_URL ? process.env[name] : findLocalStart()?.[name];
  const parsed = schema.safeParse(text || missing(name));
  if (parsed.success) return parsed.data;
  throw new ServiceError('VALIDATION_ERROR', `${name} ${parsed.error.issues[0]?.message}.`);
}

function missing(name: string): never {
  requireStarted();
  throw new ServiceError(
    'VALIDATION_ERROR',
    `${name} is not set, and ${stateFolder()} has no state of npm start. Set ${name}, or run npm start first ` +
      '(if it ran with another folder, set WEIR_STATE_DIR to that).',
  );
}
