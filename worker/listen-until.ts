import { once } from 'node:events';
import type { Notifications } from '../db/notifications.ts';

type Subscription = {
  notifications: Notifications;
  channel: string;
  /** Maximum number of notifications handled at the same time. */
  atOnce: number;
  /** Handles the payload of a notification. */
  handle: (payload: string) => Promise<void>;
  /** Does the work that was announced while nobody listened. */
  catchUp: () => Promise<void>;
  /** Gets the errors of both. */
  onError: (error: unknown) => void;
};

/**
 * Handles notifications of a channel until `signal` aborts. A payload that is announced again while it waits is handled
 * once. Resolves once the work under way has ended.
 */
export async function listenUntil(
  signal: AbortSignal,
  { notifications, channel, atOnce, handle, catchUp, onError }: Subscription,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  function begin(work: Promise<void>): void {
    const ended = work.catch(onError);
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
      if (!signal.aborted) await handle(next).catch(onError);
    }
    busy -= 1;
  }
  const { close } = notifications.listen(
    channel,
    (payload) => begin(take(payload)),
    () => begin(catchUp()),
  );
  if (!signal.aborted) await once(signal, 'abort');
  close();
  // It uses the database, which is closed next.
  await Promise.all(underWay);
}
