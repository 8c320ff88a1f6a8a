import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadGenerator, LoadTarget } from './load.ts';

const JOBS_TIMEOUT_MS = 5 * 60_000;
const JOBS_POLL_MS = 100;

/** Starts `count` runs, 16 requests at a time, and waits until `countComplete` has counted that many more. */
export async function measureJobs(
  load: LoadGenerator,
  target: LoadTarget,
  count: number,
  countComplete: () => Promise<number>,
) {
  const before = await countComplete();
  const began = performance.now();
  const accepted = await load.run({ ...target, concurrency: 16, maxRequests: count, maxMs: JOBS_TIMEOUT_MS });
  for (;;) {
    const complete = (await countComplete()) - before;
    const seconds = (performance.now() - began) / 1_000;
    if (complete === count)
      return { 'accepted per second': accepted.perSecond, 'completed per second': count / seconds };
    if (seconds * 1_000 > JOBS_TIMEOUT_MS)
      throw new Error(`Only ${complete} of ${count} runs completed within 5 minutes.`);
    await sleep(JOBS_POLL_MS);
  }
}
