// The sessions of `weir login`, one for each service, in a file that only its owner can read.
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeProcessLock } from '../../embedded/processes/process-lock.ts';
import { readState, writeState } from '../../embedded/state-folder.ts';
import { ServiceError } from '../../flow/errors.ts';

const FILE = 'sessions.json';
const LOCK_POLL_MS = 100;
const LOCK_TIMEOUT_MS = 60_000;

/** `expiresAt`, that of the access token, is in milliseconds since 1970. */
export type Session = {
  issuer: string;
  clientId: string;
  audience: string;
  accessToken: string;
  expiresAt: number;
  refreshToken?: string;
};
/** Sessions by the URL of their service; `current` is the service that was signed in to last. */
export type Sessions = { current?: string; services: { [url: string]: Session } };

export function readSessions(): Sessions {
  return readState<Sessions>(folder(), FILE) ?? { services: {} };
}

/** Replaces all sessions. Call it inside `withSessionLock` only. */
export function writeSessions(sessions: Sessions): void {
  writeState(folder(), FILE, sessions);
}

/** Runs `work` while no other command changes sessions: a refresh token is good for one use. */
export async function withSessionLock<T>(work: () => Promise<T>): Promise<T> {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  const file = path.join(folder(), 'sessions.lock');
  const until = Date.now() + LOCK_TIMEOUT_MS;
  for (;;) {
    const lock = takeProcessLock(file);
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

function folder(): string {
  return path.join(process.env.XDG_CONFIG_HOME || path.join(homedir(), '.config'), 'weir');
}
