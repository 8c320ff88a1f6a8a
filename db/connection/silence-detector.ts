// Tells a silent database (frozen, or cut off without an error) from a slow one.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ConnectionFailed } from './connection-failed.ts';

/** When a statement takes longer, the detector asks whether the database is there at all. */
const SLOW_MS = 1_000;
/** The database is silent when a new connection takes longer. */
const SILENT_MS = 1_500;
/** Times are counted in this many parts, so that a blocked event loop, which adds one part at most, is not taken for silence. */
const PARTS = 3;

export type SilenceDetector = {
  /** Settles as `work` does; rejects with ConnectionFailed within 2.5 s when the database is silent. */
  watch<T>(work: Promise<T>): Promise<T>;
  /** Whether the database answers a new connection, with success or an error: at once, or false after 1.5 s. */
  answers(): Promise<boolean>;
};

/** Creates a detector that asks with connections of its own, one at a time, and only when something takes long. */
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
    // This surrounds every query: plain timers cost a tenth of promised ones.
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
        // A database that was silent a moment ago is asked at once.
        if (silent) doubt();
        else look(PARTS);
      }),
  };
}

async function ask(url: string): Promise<boolean> {
  // The connection's own timeout only cleans up after the detector has given up.
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2 * SILENT_MS });
  client.on('error', () => undefined);
  const over = new AbortController();
  const answered = client.connect().then(
    () => client.end().catch(() => undefined),
    // A refusal is an answer too; the statement itself will get it.
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
