import { once } from 'node:events';
import { listen } from '../db/listen.ts';

type Hearing = {
  databaseUrl: string;
  channel: string;
  /** Does the work that is announced with a payload. */
  heard: (payload: string) => Promise<void>;
  /** Does the work that was announced while nobody listened. */
  missed: () => Promise<void>;
  /** Told what either of them, or closing the connection, failed with. */
  complain: (error: unknown) => void;
};

/** Does what is announced on a channel until `signal` aborts. Resolves once the work that it began has ended. */
export async function hearUntil(
  signal: AbortSignal,
  { databaseUrl, channel, heard, missed, complain }: Hearing,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  function begin(work: Promise<void>): void {
    const ended = work.catch(complain);
    underWay.add(ended);
    void ended.then(() => underWay.delete(ended));
  }
  const { close } = listen(
    databaseUrl,
    channel,
    (payload) => begin(heard(payload)),
    () => begin(missed()),
  );
  if (!signal.aborted) await once(signal, 'abort');
  await close().catch(complain);
  // It uses the database, which is closed next.
  await Promise.all(underWay);
}
