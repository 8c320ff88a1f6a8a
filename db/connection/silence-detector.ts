// Tells a database that is silent (frozen, or cut off without a word) from one that is slow.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ConnectionFailed } from './connection-failed.ts';

/** What takes longer makes one ask whether the database is there at all. */
const SLOW_MS = 1_000;
/** It is silent when a new connection takes longer. */
const SILENT_MS = 1_500;
/** Counted in this many parts, each of which an event loop that was held up counts once. */
const PARTS = 3;

export type SilenceDetector = {
  /** Settles as `work` does; rejects with ConnectionFailed within 2.5 s when the database is silent. */
  watch<T>(work: Promise<T>): Promise<T>;
  /** Whether the database answers a new connection, by anything: at once, or false after 1.5 s. */
  answers(): Promise<boolean>;
};

/** Asks by connections of its own, one at a time, and only when something takes long. */
export function createSilenceDetector(url: string): SilenceDetector {
  let asking: Promise<boolean> | undefined;
  let silent = false;

  async function answers(): Promise<boolean> {
    asking ??= ask(url).finally(() => {
      asking = undefined;
    });
    silent = !(await asking);
    return !silent;
  }

  return {
    answers,
    // Around every query: plain timers, which cost a tenth of promises of them.
    watch: (work) =>
      new Promise((resolve, reject) => {
        let timer: NodeJS.Timeout | undefined;
        let over = false;
        const look = (parts: number) => {
          timer = setTimeout(() => (parts > 1 ? look(parts - 1) : doubt()), SLOW_MS / PARTS);
        };
        const doubt = () => {
          answers().then((answered) => {
            if (!answered) reject(new ConnectionFailed('silent', new Error('no answer')));
            else if (!over) look(PARTS);
          }, reject);
        };
        const settle = () => {
          over = true;
          clearTimeout(timer);
        };
        work.then(resolve, reject).finally(settle);
        // Nobody waits once more for what has just been found silent.
        if (silent) doubt();
        else look(PARTS);
      }),
  };
}

async function ask(url: string): Promise<boolean> {
  // Its own timeout only clears away what has been given up.
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2 * SILENT_MS });
  client.on('error', () => undefined);
  const over = new AbortController();
  const answered = client.connect().then(
    () => client.end().catch(() => undefined),
    // A refusal is an answer: whoever asked will be told it too.
    () => undefined,
  );
  try {
    return await Promise.race([answered.then(() => true), pass(SILENT_MS, over.signal).then(() => false)]);
  } finally {
    over.abort();
  }
}

async function pass(ms: number, signal: AbortSignal): Promise<void> {
  for (let part = 0; part < PARTS; part += 1) await sleep(ms / PARTS, undefined, { signal });
}
