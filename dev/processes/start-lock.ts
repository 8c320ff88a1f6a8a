import path from 'node:path';
import { findLockOwner, type LockOwner, type ProcessLock, takeProcessLock } from './process-lock.ts';

const FILE = 'start.json';

/** Finds the `npm start` that runs on the state folder. */
export function findStart(stateFolder: string): LockOwner | undefined {
  return findLockOwner(path.join(stateFolder, FILE));
}

/** Tells whether an `npm start` runs on the state folder that has not brought the service up yet. */
export function isStarting(stateFolder: string): boolean {
  const owner = findStart(stateFolder);
  return owner !== undefined && owner.url === undefined;
}

/** Takes the lock that lets one start use a state folder. Throws an Error that names the start which has it. */
export function takeStartLock(stateFolder: string): ProcessLock {
  const lock = takeProcessLock(path.join(stateFolder, FILE));
  if (lock.taken) return lock;
  const { pid, url } = lock.owner;
  throw new Error(
    `Weir is already running in ${stateFolder}: process ${pid}${url ? `, ${url}` : ''}. ` +
      'Stop it first, or set WEIR_STATE_DIR to start another one.',
  );
}
