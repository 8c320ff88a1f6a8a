import { once } from 'node:events';
import { listen } from '../db/listen.ts';

type Hearing = {
  databaseUrl: string;
  channel: string;
  /** How many of the announced works are done at the same time. */
  atOnce: number;
  /** Does the work that is announced with a payload. */
  heard: (payload: string) => Promise<void>;
  /** Does the work that was announced while nobody listened. */
  missed: () => Promise<void>;
  /** Told what either of them, or closing the connection, failed with. */
  complain: (error: unknown) => void;
};

/**
 * Does what is announced on a channel until `signal` aborts; what is announced again while it waits is done once. Resolves once
 * the work that it began has ended.
 */
export async function hearUntil(
  signal: AbortSignal,
  { databaseUrl, channel, atOnce, heard, missed, complain }: Hearing,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  function begin(work: Promise<void>): void {
    const ended = work.catch(complain);
    underWay.add(ended);
    void ended.then(() => underWay.delete(ended));
  }
  const waiting = new Set<string>();
  let busy = 0;
  async function take(payload: string): Promise<void> {
    waiting.add(payload);
    if (busy >= atOnce) return;
    busy += 1;
    for (const next of waiting) {
      waiting.delete(next);
      if (!signal.aborted) await heard(next).catch(complain);
    }
    busy -= 1;
  }
  const { close } = listen(
    databaseUrl,
    channel,
    (payload) => begin(take(payload)),
    () => begin(missed()),
  );
  if (!signal.aborted) await once(signal, 'abort');
  await close().catch(complain);
  // It uses the database, which is closed next.
  await Promise.all(underWay);
}
