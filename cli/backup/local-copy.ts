// A copy of the state of a stopped `npm start`, whose PostgreSQL has no pg_dump: the folder `data` of its database, and the
// files with its secrets and accounts.
import { chownSync, existsSync, globSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { findDataFolder, findPostgresAccount } from '../../dev/postgres/account.ts';
import { endRecordedProcesses } from '../../dev/processes/end-process.ts';
import { findStart, takeStartLock } from '../../dev/processes/process-lock.ts';
import { openStateFolder } from '../../dev/state-folder.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findLocalStart, stateFolder } from '../api/local-start.ts';

const LOCK = 'start.json';

/** Copies the state to a new folder, which has its name once it is whole. Only its owner can read it. */
export async function copyState(target: string): Promise<void> {
  requireOwnDatabase();
  if (existsSync(target))
    throw new ServiceError(
      'CONFLICT',
      `${target} exists already. Name another folder, or delete that one first.`,
    );
  if (!findLocalStart())
    throw new ServiceError(
      'VALIDATION_ERROR',
      `DATABASE_URL is not set, and ${stateFolder()} has no state of npm start. Set DATABASE_URL, or WEIR_STATE_DIR.`,
    );
  await whileStopped(async (folder) => {
    const draft = `${target}.partial`;
    await rm(draft, { recursive: true, force: true });
    const remove = () => rmSync(draft, { recursive: true, force: true });
    process.once('exit', remove);
    try {
      await mkdir(draft, { mode: 0o700 });
      await cp(findData(folder).data, path.join(draft, 'data'), { recursive: true });
      await copyJson(folder, draft);
      await rename(draft, target);
    } catch (error) {
      throw new ServiceError('CONFLICT', `${target} cannot be written: ${(error as Error).message}.`);
    } finally {
      remove();
      process.off('exit', remove);
    }
  });
}

/** Puts a copy in the place of the state, and forgets all that the Temporal of `npm start` knew. */
export async function restoreState(source: string, replace: boolean): Promise<{ hasOwnTemporal: boolean }> {
  requireOwnDatabase();
  if (!existsSync(path.join(source, 'data/PG_VERSION')) || !existsSync(path.join(source, 'secrets.json')))
    throw new ServiceError(
      'VALIDATION_ERROR',
      `${source} is not a folder of weir backup. To restore a file into a database, set DATABASE_URL.`,
    );
  const local = findLocalStart();
  await whileStopped(async (folder) => {
    const { data, ids } = findData(folder);
    if (existsSync(data) && !replace)
      throw new ServiceError(
        'CONFLICT',
        `npm start has a database already, in ${data}. --replace deletes it.`,
      );
    // A start that finds this name deletes what an interrupted one has left.
    const draft = `${data}.new`;
    await rm(draft, { recursive: true, force: true });
    await cp(path.join(source, 'data'), draft, { recursive: true });
    if (ids)
      for (const name of ['.', ...readdirSync(draft, { recursive: true, encoding: 'utf8' })])
        chownSync(path.join(draft, name), ids.uid, ids.gid);
    rmSync(data, { recursive: true, force: true });
    await copyJson(source, folder);
    for (const end of ['', '-wal', '-shm']) rmSync(path.join(folder, `temporal.db${end}`), { force: true });
    renameSync(draft, data);
  });
  return { hasOwnTemporal: !local || local.temporal?.TEMPORAL_ADDRESS !== undefined };
}

function findData(folder: string) {
  const account = findPostgresAccount(folder);
  const data = path.join(
    findDataFolder(folder, account, () => undefined),
    'data',
  );
  return { data, ids: account?.ids };
}

async function copyJson(from: string, to: string): Promise<void> {
  for (const name of globSync('*.json', { cwd: from }))
    if (name !== LOCK) await cp(path.join(from, name), path.join(to, name));
}

/** Does `work` while no `npm start` runs, nor anything that an earlier one has left running. */
async function whileStopped(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = openStateFolder();
  if (findStart(folder))
    throw new ServiceError(
      'CONFLICT',
      `npm start is running in ${folder}. Stop it (Ctrl-C), repeat the command, and start it again.`,
    );
  const lock = takeStartLock(folder);
  try {
    await endRecordedProcesses(folder);
    await work(folder);
  } finally {
    lock.release();
  }
}

/** Throws where the last start was given a database: that database is copied with pg_dump. */
function requireOwnDatabase(): void {
  if (!findLocalStart()?.given?.includes('DATABASE_URL')) return;
  throw new ServiceError(
    'VALIDATION_ERROR',
    'npm start was given a DATABASE_URL, which is not set here. Set the same here; or, if npm start is to have a PostgreSQL ' +
      'of its own from now on, run it once without DATABASE_URL.',
  );
}
