// The state folder of a local start (`.weir/`): readable by its owner only, kept between starts.
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ENCRYPTION_KEY_BYTES } from '../platform/secrets/encrypt.ts';

/** The file with what a start writes for `npx weir` and for the next start. */
export const LOCAL_ENVIRONMENT = 'env.json';

/** The content of that file. */
export type LocalEnvironment = {
  DATABASE_URL: string;
  WEIR_API_KEY_PEPPER: string;
  WEIR_SECRETS_KEYS: string;
  WEIR_URL: string;
  WEIR_API_KEY: string;
  /** Where the demo models are that the start brought up; absent where it uses configured ones. */
  DEMO_BASE_URL?: string;
  /** The variables of the Temporal server that the start brought up; absent where it uses a configured one. */
  temporal?: { TEMPORAL_ADDRESS?: string; TEMPORAL_NAMESPACE?: string };
  /** The names of the service's variables that the start was given. */
  given?: string[];
  /** How `weir token` reaches the embedded identity provider, where one runs. */
  identity?: { issuer: string; audience: string; mcpAudience: string; scriptSecret: string };
};

/** The secrets of one state folder; `secretsKeys` has the form of WEIR_SECRETS_KEYS. */
type Secrets = { apiKeyPepper: string; postgresPassword: string; secretsKeys: string };

/** Explains why the start's own PostgreSQL refuses the stored password, and says what to do. */
export const OTHER_CLUSTER =
  'secrets.json in the state folder of npm start is not that of its PostgreSQL cluster: it was replaced or deleted. Put back ' +
  'the one that is; or move the cluster away (the folder postgres there, or the one that the file postgres-folder names), and ' +
  'another is made for this secrets.json. Delete neither: nobody can read the secrets of a database, or use its API keys, ' +
  'without the secrets.json of that database.';

/** Opens WEIR_STATE_DIR, or `.weir` in the checkout; creates it when missing. */
export function openStateFolder(env: NodeJS.ProcessEnv = process.env): string {
  const folder = path.resolve(env.WEIR_STATE_DIR || path.join(path.dirname(import.meta.dirname), '.weir'));
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Group bits stay as they are: when root starts, they let PostgreSQL's account pass through.
    if (statSync(folder).mode & 0o007) chmodSync(folder, 0o700);
    return folder;
  } catch (error) {
    throw new Error(
      `The state folder ${folder} cannot be used (${error}). Set WEIR_STATE_DIR to another folder.`,
    );
  }
}

/** Reads the secrets of this folder, and creates missing secrets. */
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

/** Reads one JSON file of the folder; undefined when it does not exist. */
export function readState<T>(folder: string, name: string): T | undefined {
  const file = path.join(folder, name);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read: ${error}`);
  }
}

/** Replaces one JSON file atomically, readable by its owner only. */
export function writeState(folder: string, name: string, value: unknown): void {
  const file = path.join(folder, name);
  writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}
