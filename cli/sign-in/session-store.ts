// The sessions of `weir login`, one for each service, in a file that only its owner can read.
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type ProcessLock, takeProcessLock } from '../../dev/processes/process-lock.ts';
import { writeState } from '../../dev/state-folder.ts';
import { ServiceError } from '../../flow/errors.ts';

const FILE = 'sessions.json';
const LOCK_POLL_MS = 100;
const LOCK_TIMEOUT_MS = 60_000;

/** `expiresAt`, that of the access token, is in milliseconds since 1970. */
const session = z.object({
  issuer: z.string(),
  clientId: z.string(),
  audience: z.string(),
  accessToken: z.string(),
  expiresAt: z.number(),
  refreshToken: z.string().exactOptional(),
});
export type Session = z.output<typeof session>;
/** Sessions by the URL of their service; `current` is the service that was signed in to last. */
const stored = z.object({
  current: z.string().exactOptional(),
  services: z.record(z.string(), session),
});
type Sessions = z.output<typeof stored>;

const UNREADABLE: { [code: string]: string } = {
  EACCES: 'you may not read it',
  EPERM: 'you may not read it',
  EISDIR: 'it is a folder',
};

/** Reads all sessions. Throws a ServiceError, which repeats nothing of the file, when it cannot. */
export function readSessions(): Sessions {
  const { sessions, problem } = inspectFile();
  if (sessions) return sessions;
  throw new ServiceError(
    'CONFLICT',
    `${problem} Sign in again with weir login, which replaces it. WEIR_TOKEN and WEIR_API_KEY work without it.`,
  );
}

/** Reads all sessions for a new sign-in: none, and the `problem`, where the file is broken. */
export function readUsableSessions(): { sessions: Sessions; problem?: string } {
  const { sessions = { services: {} }, problem } = inspectFile();
  return { sessions, ...(problem !== undefined && { problem }) };
}

/** Reads the file, or says what is wrong with it. */
function inspectFile(): { sessions: Sessions; problem?: never } | { sessions?: never; problem: string } {
  const problem = (why: string) => ({
    problem: `${sessionsFile()} cannot be read as the sessions of weir login: ${why}.`,
  });
  try {
    const { data } = stored.safeParse(JSON.parse(readFileSync(sessionsFile(), 'utf8')));
    return data ? { sessions: data } : problem('it has another form');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // What is in the place of its folder is said when a session is to be kept.
    if (code === 'ENOENT' || code === 'ENOTDIR') return { sessions: { services: {} } };
    return problem(UNREADABLE[code] ?? (error instanceof SyntaxError ? 'it is not JSON' : code));
  }
}

/** Moves a broken file out of the way of the next one. Call it inside `withSessionLock` only. */
function setAside(): void {
  const aside = `${sessionsFile()}.broken`;
  rmSync(aside, { recursive: true, force: true });
  renameSync(sessionsFile(), aside);
}

/** Keeps a new session, and makes its service the current one. A broken file is set aside. */
export async function keepSession(url: string, session: Session): Promise<void> {
  await withSessionLock(async () => {
    const { sessions, problem } = readUsableSessions();
    if (problem !== undefined) setAside();
    writeSessions({ current: url, services: { ...sessions.services, [url]: session } });
  });
}

/** Replaces all sessions. Call it inside `withSessionLock` only. */
export function writeSessions(sessions: Sessions): void {
  writeState(folder(), FILE, sessions);
}

/** Runs `work` while no other command changes sessions: a refresh token is good for one use. */
export async function withSessionLock<T>(work: () => Promise<T>): Promise<T> {
  const file = path.join(folder(), 'sessions.lock');
  const until = Date.now() + LOCK_TIMEOUT_MS;
  for (;;) {
    const lock = takeLock(file);
    if (lock.taken) {
      try {
        return await work();
      } finally {
        lock.release();
      }
    }
    if (Date.now() > until)
      throw new ServiceError(
        'CONFLICT',
        `Process ${lock.owner.pid} has been changing the sessions in ${folder()} for a minute. End it and try again.`,
      );
    await sleep(LOCK_POLL_MS);
  }
}

function takeLock(file: string): ProcessLock {
  try {
    mkdirSync(folder(), { recursive: true, mode: 0o700 });
    return takeProcessLock(file);
  } catch (error) {
    throw new ServiceError(
      'CONFLICT',
      `No session can be kept in ${folder()} (${(error as Error).message}). Make it writable, or set XDG_CONFIG_HOME to another folder.`,
    );
  }
}

function sessionsFile(): string {
  return path.join(folder(), FILE);
}

function folder(): string {
  return path.join(process.env.XDG_CONFIG_HOME || path.join(homedir(), '.config'), 'weir');
}
