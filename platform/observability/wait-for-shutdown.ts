import { setTimeout as sleep } from 'node:timers/promises';

const WAIT_MAX_MS = 5_000;

/** Waits for a shutdown, for 5 s at most: a receiver that is away must not keep a process from ending. */
export async function waitForShutdown(shutdown: Promise<void>): Promise<void> {
  const over = new AbortController();
  await Promise.race([
    shutdown,
    sleep(WAIT_MAX_MS, undefined, { signal: over.signal }).catch(() => undefined),
  ]).finally(() => over.abort());
}
