// The state folder of a local start (`.weir/`): closed to others, everything in it survives.
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ENCRYPTION_KEY_BYTES } from '../db/encrypt.ts';

/** What a start leaves for `npx weir` and for the next start: `env.json`. */
export type LocalEnvironment = {
  DATABASE_URL: string;
  WEIR_API_KEY_PEPPER: string;
  WEIR_SECRETS_KEYS: string;
  WEIR_URL: string;
  WEIR_API_KEY: string;
  /** Of the embedded identity provider, where one runs: for `weir token`. */
  identity?: { issuer: string; audience: string; mcpAudience: string; scriptSecret: string };
};

/** `secretsKeys` as in WEIR_SECRETS_KEYS. */
export type Secrets = { apiKeyPepper: string; postgresPassword: string; secretsKeys: string };

/** WEIR_STATE_DIR, or `.weir` in the checkout; created when missing. */
export function openStateFolder(env: NodeJS.ProcessEnv = process.env): string {
  const folder = path.resolve(env.WEIR_STATE_DIR || path.join(path.dirname(import.meta.dirname), '.weir'));
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Group bits are left alone: started as root, PostgreSQL's account passes through by them.
    if (statSync(folder).mode & 0o007) chmodSync(folder, 0o700);
    return folder;
  } catch (error) {
    throw new Error(
      `The state folder ${folder} cannot be used (${error}). Set WEIR_STATE_DIR to another one.`,
    );
  }
}

/** The secrets of this folder, each made at the first start that needs it. */
export function provideSecrets(folder: string): Secrets {
  const existing = readState<Partial<Secrets>>(folder, 'secrets.json');
  const secrets = {
    apiKeyPepper: newSecret(),
    postgresPassword: newSecret(),
    secretsKeys: `local:${randomBytes(ENCRYPTION_KEY_BYTES).toString('base64')}`,
    ...existing,
  };
  if (!existing?.secretsKeys) writeState(folder, 'secrets.json', secrets);
  return secrets;
}

/** One JSON file of the folder; undefined when it is not there. */
export function readState<T>(folder: string, name: string): T | undefined {
  const file = path.join(folder, name);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read: ${error}`);
  }
}

/** Replaces one JSON file at once, readable by its owner alone. */
export function writeState(folder: string, name: string, value: unknown): void {
  const file = path.join(folder, name);
  writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}
