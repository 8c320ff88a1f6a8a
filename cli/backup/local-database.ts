// The database of `npm start`, which these commands start themselves while nothing else has it.
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { startPostgres } from '../../dev/postgres/postgres.ts';
import { findLockOwner, takeStartLock } from '../../dev/processes/process-lock.ts';
import { startWatchdog } from '../../dev/processes/watchdog.ts';
import { openStateFolder, provideSecrets } from '../../dev/state-folder.ts';
import { ServiceError } from '../../flow/errors.ts';
import { encryptionKeys } from '../../platform/config/values.ts';
import { findLocalStart, stateFolder } from '../api/local-start.ts';
import { databaseUrl, hasDatabaseUrl } from '../operator/environment.ts';

/** Whether the commands work on the database of `npm start`. */
export function isLocal(): boolean {
  return !hasDatabaseUrl();
}

/** Does `work` with the configured database, or with that of `npm start`, which is started for it unless it runs. */
export async function whileDatabaseRuns<T>(work: (url: string) => Promise<T>): Promise<T> {
  const isRunning = findLockOwner(path.join(stateFolder(), 'start.json')) !== undefined;
  if (!isLocal() || isRunning || !findLocalStart()) return work(databaseUrl());
  requireOwnDatabase();
  return startedHere(work);
}

/**
 * Does `work` with the database of `npm start`, which must not run, and forgets all that its Temporal knew. `unreadable` says
 * that the next start cannot read the secrets that the database has then.
 */
export function restoreLocally<T>(
  work: (url: string) => Promise<T>,
): Promise<{ result: T; unreadable?: string }> {
  requireOwnDatabase();
  requireLocalSecrets();
  return startedHere(async (url, cluster) => {
    const result = await work(url);
    for (const end of ['', '-wal', '-shm'])
      rmSync(path.join(stateFolder(), `temporal.db${end}`), { force: true });
    const { checkSecrets } = await import('../doctor/checks.ts');
    const keys = findGivenKeys() ?? provideSecrets(stateFolder()).secretsKeys;
    const findings = await checkSecrets({ databaseUrl: url, secretsKeys: encryptionKeys.parse(keys) });
    const problem = findings.find(({ state }) => state === 'error');
    return problem ? { result, unreadable: `${problem.message} ${mendSecrets(cluster)}` } : { result };
  });
}

/** Whether the last `npm start` started its own Temporal. */
export function hasOwnTemporal(): boolean {
  const local = findLocalStart();
  return !local || local.temporal?.TEMPORAL_ADDRESS !== undefined;
}

/** Throws where the last start was given a database: its own, which would be started here, is another. */
function requireOwnDatabase(): void {
  if (!findLocalStart()?.given?.includes('DATABASE_URL')) return;
  throw new ServiceError(
    'VALIDATION_ERROR',
    'npm start was given a DATABASE_URL, which is not set here. Set the same here; or, if npm start is to have a PostgreSQL ' +
      'of its own from now on, run it once without DATABASE_URL.',
  );
}

/** Finds the keys that the last start was given: the next one is given them too, and does not use those of the state folder. */
function findGivenKeys(): string | undefined {
  const local = findLocalStart();
  return local?.given?.includes('WEIR_SECRETS_KEYS') ? local.WEIR_SECRETS_KEYS : undefined;
}

/** Says what to do where secrets of the backup cannot be read after the restore into `cluster`. */
function mendSecrets(cluster: string): string {
  if (findGivenKeys() !== undefined) return 'Give npm start the WEIR_SECRETS_KEYS of the backup.';
  return (
    `If ${path.join(stateFolder(), 'secrets.json')} is not that of the backup, its API keys are not valid either: move ` +
    `${cluster} away, copy the .json files, but not start.json, from the state folder where the backup was made, and restore ` +
    'it again.'
  );
}

/** Throws unless the state folder has its secrets: new secrets cannot decrypt the backup. */
function requireLocalSecrets(): void {
  const file = path.join(stateFolder(), 'secrets.json');
  if (existsSync(file)) return;
  throw new ServiceError(
    'VALIDATION_ERROR',
    `${file} is missing. Copy it from where the backup was made: without it nobody can use the API keys in the backup or ` +
      'read its secrets. If it is lost, run npm start once, which makes another, and give out new API keys.',
  );
}

async function startedHere<T>(work: (url: string, cluster: string) => Promise<T>): Promise<T> {
  process.umask(0o077);
  const folder = openStateFolder();
  const lock = takeStartLock(folder);
  try {
    startWatchdog(folder);
    const { postgresPassword: password } = provideSecrets(folder);
    const postgres = await startPostgres({ stateFolder: folder, password, database: 'weir' });
    try {
      return await work(postgres.url, postgres.folder);
    } finally {
      await postgres.stop();
    }
  } finally {
    lock.release();
  }
}
