import type { Execution } from './spans.ts';

type Ended = Extract<Execution, { finishedAt: string }>;
export type UnderWay = Exclude<Execution, Ended>;

/**
 * Lists the block executions of a run, those under way last. One that has ended by now is left out of those; an earlier one
 * of the same block, which a session or a resume runs again, is another.
 */
export function listExecutions(ended: readonly Ended[], underWay: readonly UnderWay[]): Execution[] {
  const lastEnds = new Map<string, string>();
  for (const { key, finishedAt } of ended)
    if (finishedAt > (lastEnds.get(key) ?? '')) lastEnds.set(key, finishedAt);
  return [...ended, ...underWay.filter(({ key, startedAt }) => startedAt > (lastEnds.get(key) ?? ''))];
}
