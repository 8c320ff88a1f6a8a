// A lock file that belongs to a living process and is free again when that is gone, however it went.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { processStartTime } from './process-identity.ts';

const ATTEMPTS = 5;

export type LockOwner = { pid: number; startTime: string | undefined; url?: string };

export type ProcessLock = {
  /** Who has it: this process when `taken`. */
  owner: LockOwner;
  taken: boolean;
  /** Says where its owner can be reached. */
  setUrl(url: string): void;
  release(): void;
};

/** Takes the lock, also over from a process that is gone, or tells who has it. */
export function takeProcessLock(file: string): ProcessLock {
  const own: LockOwner = { pid: process.pid, startTime: processStartTime(process.pid) };
  const lock = {
    owner: own,
    taken: true,
    setUrl: (url: string) => replace(file, { ...own, url }),
    release: () => rmSync(file, { force: true }),
  };
  const draft = `${file}.${process.pid}`;
  rmSync(draft, { force: true });
  // Exclusive: in a folder that others write to, a link put there beforehand is not followed.
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600, flag: 'wx' });
  try {
    for (let attempt = 1; !link(draft, file); attempt += 1) {
      const owner = readOwner(file);
      if (owner && isRunning(owner)) return { ...lock, owner, taken: false };
      if (attempt === ATTEMPTS) throw new Error(`The lock file ${file} cannot be replaced. Delete it.`);
      rmSync(file, { force: true });
    }
    return lock;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A hard link appears with its content or not at all. */
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
    // Released in the meantime, or not ours to begin with.
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
