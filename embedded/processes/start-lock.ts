// One start per state folder at a time.
import path from 'node:path';
import { type ProcessLock, takeProcessLock } from './process-lock.ts';

/** Takes the folder's lock; throws an Error that names a start that is running. */
export function takeStartLock(stateFolder: string): ProcessLock {
  const lock = takeProcessLock(path.join(stateFolder, 'start.json'));
  if (lock.taken) return lock;
  const { pid, url } = lock.owner;
  throw new Error(
    `Weir is running already in ${stateFolder}: process ${pid}${url ? `, ${url}` : ''}. ` +
      'Stop it first, or set WEIR_STATE_DIR to start another one beside it.',
  );
}
