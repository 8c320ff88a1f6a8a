import pg from 'pg';
import { databaseOutage } from './connection/database-outage.ts';

const RECONNECT_MS = 1_000;
/** A connection can die silently: one that does not answer is replaced within 6 s. */
const PING_MS = 2_000;
const PING_TIMEOUT_MS = 3_000;

export type NotificationListener = {
  /** Whether the connection is listening now. */
  hears(): boolean;
  close(): Promise<void>;
};

/**
 * Calls `hear` with each payload announced on `channel`, over a connection of its own. A lost connection is opened again.
 * Payloads announced meanwhile are lost; `opened` is called each time that listening begins.
 */
export function listen(
  databaseUrl: string,
  channel: string,
  hear: (payload: string) => void,
  opened: () => void = () => undefined,
): NotificationListener {
  let client: pg.Client | undefined;
  let closed = false;
  let hearing = false;

  function open(): void {
    if (closed) return;
    const opening = new pg.Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: PING_TIMEOUT_MS,
      query_timeout: PING_TIMEOUT_MS,
    });
    client = opening;
    const fail = (error: Error) => {
      if (!closed) databaseOutage.failed(`Listening on ${channel} failed: ${error.message}`);
    };
    const giveUp = (error: Error) => {
      fail(error);
      return opening.end();
    };
    const ping = () => {
      databaseOutage.works();
      setTimeout(() => opening.query('select 1').then(ping, giveUp), PING_MS).unref();
    };
    opening.on('notification', ({ payload }) => hear(payload ?? ''));
    opening.on('end', () => {
      hearing = false;
      setTimeout(open, RECONNECT_MS).unref();
    });
    opening.on('error', fail);
    opening
      .connect()
      .then(() => opening.query(`listen ${channel}`))
      .then(() => {
        hearing = true;
        opened();
      })
      .then(ping)
      .catch(giveUp);
  }
  open();

  return {
    hears: () => hearing,
    async close() {
      closed = true;
      // end() would wait for ever on a silent connection; a query without an answer cuts it.
      await client?.query('select 1').catch(() => undefined);
      await client?.end();
    },
  };
}
