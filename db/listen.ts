// A connection of its own that hears what the database announces.
import pg from 'pg';

const RECONNECT_MS = 1_000;
/** A connection can die in silence: one that answers nothing is replaced within 6 s. */
const ASK_MS = 2_000;
const ANSWER_MS = 3_000;

export type Listener = {
  /** Whether what is announced now is heard. */
  hears(): boolean;
  close(): Promise<void>;
};

/**
 * Tells `hear` each payload announced on `channel`. A lost connection is opened again; what was announced meanwhile is
 * not heard, and `opened` is told each time that hearing begins.
 */
export function listen(
  databaseUrl: string,
  channel: string,
  hear: (payload: string) => void,
  opened: () => void = () => undefined,
): Listener {
  let client: pg.Client | undefined;
  let closed = false;
  let hearing = false;

  function open(): void {
    if (closed) return;
    const opening = new pg.Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
    });
    client = opening;
    const ask = () =>
      void setTimeout(() => opening.query('select 1').then(ask, () => opening.end()), ASK_MS).unref();
    opening.on('notification', ({ payload }) => hear(payload ?? ''));
    opening.on('end', () => {
      hearing = false;
      setTimeout(open, RECONNECT_MS).unref();
    });
    opening.on('error', (error) => console.error(`Listening on ${channel} failed:`, error.message));
    opening
      .connect()
      .then(() => opening.query(`listen ${channel}`))
      .then(() => {
        hearing = true;
        opened();
      })
      .then(ask)
      .catch(() => opening.end());
  }
  open();

  return {
    hears: () => hearing,
    async close() {
      closed = true;
      // Of a connection that is silent, an end would wait for ever; with a question unanswered, it is cut.
      await client?.query('select 1').catch(() => undefined);
      await client?.end();
    },
  };
}
