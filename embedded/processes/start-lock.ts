import path from 'node:path';
import { type ProcessLock, takeProcessLock } from './process-lock.ts';

/** Takes the lock that lets one start use a state folder. Throws an Error that names the start which has it. */
export function takeStartLock(stateFolder: string): ProcessLock {
  const lock = takeProcessLock(path.join(stateFolder, 'start.json'));
  if (lock.taken) return lock;
  const { pid, url } = lock.owner;
  throw new Error(
    `Weir is already running in ${stateFolder}: process ${pid}${url ? `, ${url}` : ''}. ` +
      'Stop it first, or set WEIR_STATE_DIR to start another one.',
  );
}
