// The database of `npm start`, which these commands start themselves while nothing else has it.
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { startPostgres } from '../../embedded/postgres/postgres.ts';
import { findLockOwner } from '../../embedded/processes/process-lock.ts';
import { takeStartLock } from '../../embedded/processes/start-lock.ts';
import { startWatchdog } from '../../embedded/processes/watchdog.ts';
import { openStateFolder, provideSecrets } from '../../embedded/state-folder.ts';
import { ServiceError } from '../../flow/errors.ts';
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
  return startedHere(work);
}

/** Does `work` with the database of `npm start`, which must not run, and forgets all that its Temporal knew. */
export function restoreLocally<T>(work: (url: string) => Promise<T>): Promise<T> {
  return startedHere(async (url) => {
    const result = await work(url);
    for (const end of ['', '-wal', '-shm'])
      rmSync(path.join(stateFolder(), `temporal.db${end}`), { force: true });
    return result;
  });
}

/** Throws unless the state folder has the secrets: those that a start would make are not those of the backup. */
export function requireLocalSecrets(): void {
  const file = path.join(stateFolder(), 'secrets.json');
  if (existsSync(file)) return;
  throw new ServiceError(
    'VALIDATION_ERROR',
    `${file} is missing. Copy it from where the backup was made: without it nobody can use the API keys in the backup or ` +
      'read its secrets. If it is lost, run npm start once, which makes another, and give out new API keys.',
  );
}

async function startedHere<T>(work: (url: string) => Promise<T>): Promise<T> {
  process.umask(0o077);
  const folder = openStateFolder();
  const lock = takeStartLock(folder);
  try {
    startWatchdog(folder);
    const { postgresPassword: password } = provideSecrets(folder);
    const postgres = await startPostgres({ stateFolder: folder, password, database: 'weir' });
    try {
      return await work(postgres.url);
    } finally {
      await postgres.stop();
    }
  } finally {
    lock.release();
  }
}
