import { once } from 'node:events';
import type { Notifications } from '../db/notifications.ts';

type Hearing = {
  notifications: Notifications;
  channel: string;
  /** How many of the announced works are done at the same time. */
  atOnce: number;
  /** Does the work that is announced with a payload. */
  heard: (payload: string) => Promise<void>;
  /** Does the work that was announced while nobody listened. */
  missed: () => Promise<void>;
  /** Told what either of them failed with. */
  complain: (error: unknown) => void;
};

/**
 * Does what is announced on a channel until `signal` aborts; what is announced again while it waits is done once. Resolves once
 * the work that it began has ended.
 */
export async function hearUntil(
  signal: AbortSignal,
  { notifications, channel, atOnce, heard, missed, complain }: Hearing,
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
  const { close } = notifications.listen(
    channel,
    (payload) => begin(take(payload)),
    () => begin(missed()),
  );
  if (!signal.aborted) await once(signal, 'abort');
  close();
  // It uses the database, which is closed next.
  await Promise.all(underWay);
}
