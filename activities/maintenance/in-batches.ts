import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Repeats `work` while it returns that more is left. It rests as long as each batch took, which leaves the database to requests
 * for half of the time. Rejects when `signal` aborts before everything is done.
 */
export async function inBatches(signal: AbortSignal, work: () => Promise<boolean>): Promise<void> {
  for (;;) {
    const began = performance.now();
    if (!(await work())) return;
    await sleep(performance.now() - began, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  }
}
