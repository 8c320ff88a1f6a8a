import type { LoadGenerator, LoadResult, LoadTarget } from '../setup/load.ts';
import { type Groups, readUsage } from '../setup/usage.ts';
import type { Sizes } from './sizes.ts';

/** From so many callers on, latencies are those of a crowd: its first wave of requests needs time to pass. */
const CROWD = 256;
const WAVES = 3;

/** A figure for each group of processes; null where it was not measured. */
export type Split = Record<string, number | null>;
export type Load = LoadResult & { cpuMsPerRun: Split };
/** The figures of one candidate by the number of callers, and its memory after the last of them. */
export type CandidateFigures = { at: Record<number, Load>; residentMb: Split };

/** A candidate that runs. */
export type Running = {
  target: LoadTarget;
  groups: Groups;
  callers: readonly number[];
  /** How long each of three model calls takes; 0 without any. */
  modelMs: number;
};

/** Measures one candidate: warm-up, then each number of callers. */
export async function measureCandidate(
  load: LoadGenerator,
  { target, groups, callers, modelMs }: Running,
  { warmUpMs, blocksMs, modelsMs, crowdMs }: Sizes,
): Promise<CandidateFigures> {
  const run = (concurrency: number, maxMs: number) => {
    return load.run({ ...target, concurrency, maxMs, maxRequests: Number.MAX_SAFE_INTEGER });
  };
  // Several waves of runs, so that the first and the last weigh little.
  const usualMs = modelMs > 0 ? Math.max(modelsMs, WAVES * 3 * modelMs) : blocksMs;
  await run(16, warmUpMs);
  const at: Record<number, Load> = {};
  for (const count of callers)
    at[count] = await withCpuTime(groups, () =>
      run(count, count < CROWD ? usualMs : Math.max(usualMs, crowdMs)),
    );
  const residentMb = mapSplit(readUsage(groups), (usage) => usage?.residentMb ?? null);
  return { at, residentMb };
}

/** Runs a load, and adds the processor time that each group used per answer. */
async function withCpuTime(groups: Groups, run: () => Promise<LoadResult>): Promise<Load> {
  const before = readUsage(groups);
  const result = await run();
  const cpuMsPerRun = mapSplit(readUsage(groups), (usage, name) => {
    const earlier = before[name];
    return usage && earlier ? (usage.cpuMs - earlier.cpuMs) / result.count : null;
  });
  return { ...result, cpuMsPerRun };
}

/** Adds up what the groups that carry out a run use: all but the model server and the load generator. */
export function serverCpuMs(split: Split): number {
  const others = ['model server', 'load generator'];
  return Object.entries(split).reduce(
    (sum, [name, value]) => sum + (others.includes(name) ? 0 : (value ?? 0)),
    0,
  );
}

function mapSplit<T>(values: Record<string, T>, map: (value: T, name: string) => number | null): Split {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]));
}
