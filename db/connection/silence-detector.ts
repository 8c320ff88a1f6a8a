// Distinguishes a silent database (frozen, or cut off without an error) from a slow one.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ConnectionFailed } from './database-errors.ts';

/** When a statement takes longer, the detector checks whether the database responds at all. */
const SLOW_MS = 1_000;
/** The database is silent when a new connection takes longer, and no statement gets a response meanwhile. */
const SILENT_MS = 3_000;
/** Time is counted in this many parts. A blocked event loop adds one part at most, so it is not taken for silence. */
const PARTS = 3;

export type SilenceDetector = {
  /** Settles as `work` does. Rejects with ConnectionFailed within 4 s when the database is silent. */
  watch<T>(work: Promise<T>): Promise<T>;
  /** Notes a response of the database: it is not silent, however slowly it accepts connections. */
  noteResponse(): void;
};

/** Creates a detector that uses its own connections, one at a time, and only while something takes long. */
export function createSilenceDetector(url: string): SilenceDetector {
  let checking: Promise<boolean> | undefined;
  let silent = false;
  let responded = Promise.withResolvers<true>();

  /** Whether the database responds at all: true at once, or false after 3 s. */
  async function answers(): Promise<boolean> {
    checking ??= check(url, responded.promise).finally(() => {
      checking = undefined;
      responded = Promise.withResolvers();
    });
    silent = !(await checking);
    return !silent;
  }

  return {
    noteResponse() {
      if (checking) responded.resolve(true);
    },
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
        // After a recent silence, checks at once.
        if (silent) doubt();
        else look(PARTS);
      }),
  };
}

/** Whether a new connection gets a response, or `responded` resolves, before the database counts as silent. */
async function check(url: string, responded: Promise<true>): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2 * SILENT_MS });
  client.on('error', () => undefined);
  const over = new AbortController();
  // A rejection is a response too; the statement itself will get it.
  const answered = client.connect().catch(() => undefined);
  try {
    return await Promise.race([
      answered.then(() => true),
      responded,
      pass(SILENT_MS, over.signal).then(() => false),
    ]);
  } finally {
    over.abort();
    client.end().catch(() => undefined);
  }
}

/** Waits, in parts. */
export async function pass(ms: number, signal: AbortSignal): Promise<void> {
  for (let part = 0; part < PARTS; part += 1) await sleep(ms / PARTS, undefined, { signal });
}
