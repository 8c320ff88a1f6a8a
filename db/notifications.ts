import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { log } from '../platform/observability/log.ts';
import { databaseOutage } from './connection/database-errors.ts';

const RECONNECT_MS = 1_000;
/** A connection can die silently. One without a response is replaced within 6 s. */
const PING_MS = 2_000;
const PING_TIMEOUT_MS = 3_000;
const PARTS = 3;

type Listener = {
  channel: string;
  handle: (payload: string) => void;
  opened: () => void;
  isListening: boolean;
};

export type NotificationListener = {
  /** Whether the connection is listening on the channel now. */
  isListening(): boolean;
  close(): void;
};

export type Notifications = {
  /**
   * Calls `handle` with each payload announced on `channel`. Payloads announced during a lost connection are lost;
   * `opened` is called each time that listening begins.
   */
  listen(channel: string, handle: (payload: string) => void, opened?: () => void): NotificationListener;
  close(): Promise<void>;
};

/**
 * Opens one connection that listens on every requested channel. A lost connection is opened again, until `close`.
 * Throws when the address names an unreadable certificate.
 */
export function createNotifications(databaseUrl: string): Notifications {
  const listeners = new Set<Listener>();
  let closed = false;
  let wake = () => {};

  const createClient = () => new pg.Client({ connectionString: databaseUrl });
  const fail = (error: Error) => {
    if (!closed) databaseOutage.failed(`Listening for notifications failed: ${error.message}`);
  };
  /** Waits that long, or until `wake` is called; does not wait once closed. */
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve;
      if (closed) resolve();
      else setTimeout(resolve, ms).unref();
    });
  }

  /** Rejects when the connection is lost. */
  async function keepListening(client = createClient()): Promise<void> {
    client.on('error', fail);
    client.on('notification', ({ channel, payload = '' }) => {
      for (const listener of listeners)
        if (listener.channel === channel) void call(channel, () => listener.handle(payload));
    });
    client.on('end', () => {
      for (const listener of listeners) listener.isListening = false;
      wake();
    });
    try {
      await inTime(client, client.connect());
      do {
        // This loop also reaches listeners that are added meanwhile.
        for (const listener of listeners) {
          if (listener.isListening) continue;
          await inTime(client, client.query(`listen ${listener.channel}`));
          if (!listeners.has(listener)) continue;
          listener.isListening = true;
          void call(listener.channel, listener.opened);
        }
        databaseOutage.works();
        await pause(PING_MS);
        await inTime(client, client.query('select 1'));
      } while (!closed);
    } finally {
      await client.end();
    }
  }

  async function stayOpen(first: pg.Client): Promise<void> {
    for (let client: pg.Client | undefined = first; !closed; client = undefined) {
      await keepListening(client).catch(fail);
      await pause(RECONNECT_MS);
    }
  }
  const ended = stayOpen(createClient());

  return {
    listen(channel, handle, opened = () => undefined) {
      const listener: Listener = { channel, handle, opened, isListening: false };
      listeners.add(listener);
      wake();
      return {
        isListening: () => listener.isListening,
        close() {
          listeners.delete(listener);
          listener.isListening = false;
        },
      };
    },
    async close() {
      closed = true;
      wake();
      await ended;
    },
  };
}

/**
 * Settles as `work` of a connection does, which is cut when it takes too long. The timers of `pg` would also fire
 * when this process was blocked and a response is waiting.
 */
async function inTime<T>(client: pg.Client, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  pass(PING_TIMEOUT_MS, over.signal).then(
    () => client.connection.stream.destroy(new Error('timeout expired')),
    () => undefined,
  );
  return work.finally(() => over.abort());
}

/** Waits, in parts. A blocked event loop delays one part at most. */
async function pass(ms: number, signal: AbortSignal): Promise<void> {
  for (let part = 0; part < PARTS; part += 1) await sleep(ms / PARTS, undefined, { signal });
}

/** Calls a listener. A failing listener does not affect the others. */
async function call(channel: string, handle: () => void | Promise<void>): Promise<void> {
  try {
    await handle();
  } catch (error) {
    log.error({ err: error, channel }, 'A notification could not be handled.');
  }
}
