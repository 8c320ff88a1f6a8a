import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadGenerator, LoadResult, LoadTarget } from './load.ts';
import type { Sizes } from './sizes.ts';
import { type Groups, readUsage } from './usage.ts';

const UNBOUNDED = Number.MAX_SAFE_INTEGER;
const MODEL_TIME_MS = 900;
const JOBS_TIMEOUT_MS = 5 * 60_000;
const JOBS_POLL_MS = 100;

/** A figure for each group of processes; null where it was not measured. */
export type Split = Record<string, number | null>;
/** Latencies are in milliseconds; processor time is for 16 callers, memory after 64 callers. */
export type Round = {
  p50: number;
  p95: number;
  p99: number;
  perSecondAt16: number;
  perSecondAt64: number;
  cpuMsPerRun: Split;
  residentMb: Split;
};
/** `addedP50` and `addedP95` are milliseconds beyond the model's own time. */
export type ModelRuns = { concurrency: number; addedP50: number; addedP95: number; cpuMsPerRun: Split };
export type Jobs = { count: number; acceptedPerSecond: number; secondsToComplete: number };

/** Measures one round of one candidate: warm-up, then 1, 16 and 64 callers. */
export async function measureRound(
  load: LoadGenerator,
  target: LoadTarget,
  groups: Groups,
  { warmUpMs, measureMs, maxRequests }: Sizes,
): Promise<Round> {
  await load.run({ ...target, concurrency: 16, maxRequests, maxMs: warmUpMs });
  const bounds = { maxRequests, maxMs: measureMs };
  const { p50, p95, p99 } = await load.run({ ...target, ...bounds, concurrency: 1 });
  const at16 = await withCpuTime(groups, () => load.run({ ...target, ...bounds, concurrency: 16 }));
  const at64 = await load.run({ ...target, ...bounds, concurrency: 64 });
  const residentMb = mapSplit(readUsage(groups), (usage) => usage?.residentMb ?? null);
  const { cpuMsPerRun } = at16;
  return {
    ...{ p50, p95, p99, perSecondAt16: at16.result.perSecond, perSecondAt64: at64.perSecond },
    ...{ cpuMsPerRun, residentMb },
  };
}

/** Measures how much longer than 900 ms three model calls of 300 ms each take. */
export async function measureModels(
  load: LoadGenerator,
  target: LoadTarget,
  groups: Groups,
  { modelRuns }: Sizes,
): Promise<ModelRuns[]> {
  const run = (concurrency: number, runs: number) =>
    load.run({ ...target, concurrency, maxRequests: concurrency * runs, maxMs: UNBOUNDED });
  await run(16, 1);
  const rows: ModelRuns[] = [];
  for (const concurrency of [1, 16, 64]) {
    const { result, cpuMsPerRun } = await withCpuTime(groups, () => run(concurrency, modelRuns));
    const addedP50 = result.p50 - MODEL_TIME_MS;
    rows.push({ concurrency, addedP50, addedP95: result.p95 - MODEL_TIME_MS, cpuMsPerRun });
  }
  return rows;
}

/** Starts `count` runs, 16 requests at a time, and waits until `countComplete` says that all are complete. */
export async function measureJobs(
  load: LoadGenerator,
  target: LoadTarget,
  count: number,
  countComplete: () => Promise<number>,
): Promise<Jobs> {
  const began = performance.now();
  const accepted = await load.run({ ...target, concurrency: 16, maxRequests: count, maxMs: UNBOUNDED });
  for (;;) {
    const complete = await countComplete();
    const elapsedMs = performance.now() - began;
    if (complete === count)
      return { count, acceptedPerSecond: accepted.perSecond, secondsToComplete: elapsedMs / 1000 };
    if (elapsedMs > JOBS_TIMEOUT_MS)
      throw new Error(`Only ${complete} of ${count} jobs completed within 5 minutes.`);
    await sleep(JOBS_POLL_MS);
  }
}

async function withCpuTime(
  groups: Groups,
  run: () => Promise<LoadResult>,
): Promise<{ result: LoadResult; cpuMsPerRun: Split }> {
  const before = readUsage(groups);
  const result = await run();
  const cpuMsPerRun = mapSplit(readUsage(groups), (usage, name) => {
    const earlier = before[name];
    return usage && earlier ? (usage.cpuMs - earlier.cpuMs) / result.count : null;
  });
  return { result, cpuMsPerRun };
}

function mapSplit<T>(values: Record<string, T>, map: (value: T, name: string) => number | null): Split {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]));
}
