// A lock file that belongs to a running process. The lock is free again once the process has ended, however it ended.
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { processStartTime } from './end-process.ts';

const FILE = 'start.json';

const ATTEMPTS = 5;

export type LockOwner = { pid: number; startTime: string | undefined; url?: string };

export type ProcessLock = {
  /** The process that has the lock: this one when `taken`. */
  owner: LockOwner;
  taken: boolean;
  /** Writes into the file where its owner can be reached. */
  setUrl(url: string): void;
  /** Deletes the file, unless another process has the lock. */
  release(): void;
};

/** Takes the lock, also from a process that is gone; otherwise says who has it, or is about to take it. */
export function takeProcessLock(file: string): ProcessLock {
  const own: LockOwner = { pid: process.pid, startTime: processStartTime(process.pid) };
  const lock = {
    owner: own,
    taken: true,
    setUrl: (url: string) => replace(file, { ...own, url }),
    release: () => {
      const { pid, startTime } = readOwner(file) ?? {};
      if (pid === own.pid && startTime === own.startTime) rmSync(file, { force: true });
    },
  };
  const draft = `${file}.${process.pid}`;
  rmSync(draft, { force: true });
  // `wx` does not follow a link that somebody else has put into a shared folder.
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600, flag: 'wx' });
  try {
    for (let attempt = 1; !link(draft, file); attempt += 1) {
      const owner = findLockOwner(file);
      if (owner) return { ...lock, owner, taken: false };
      if (attempt === ATTEMPTS)
        throw new Error(`The lock file ${file} cannot be replaced. Delete it and start again.`);
      const removal = removeStale(file);
      if (!removal.taken) return { ...lock, owner: removal.owner, taken: false };
    }
    return lock;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Removes a lock file whose owner is gone, under a lock of its own: else a process could remove what another has just taken. */
function removeStale(file: string): ProcessLock {
  const removal = takeProcessLock(`${file}.stale`);
  if (!removal.taken) return removal;
  try {
    // An absent file may be there in the next moment, with an owner.
    if (existsSync(file) && !findLockOwner(file)) rmSync(file, { force: true });
  } finally {
    removal.release();
  }
  return removal;
}

/** Finds the running process that has the lock; undefined when it is free. */
function findLockOwner(file: string): LockOwner | undefined {
  const owner = readOwner(file);
  return owner && isRunning(owner) ? owner : undefined;
}

/** Creates a hard link, which appears with its whole content; false when `to` exists. */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readOwner(file: string): LockOwner | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as LockOwner;
  } catch (error) {
    // Released in the meantime, or never a lock file.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isRunning({ pid, startTime }: LockOwner): boolean {
  const found = processStartTime(pid);
  return found !== undefined && found === startTime;
}

function replace(file: string, owner: LockOwner): void {
  writeFileSync(`${file}.new`, JSON.stringify(owner), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

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
