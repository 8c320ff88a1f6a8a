import type { Execution } from './spans.ts';

type Ended = Extract<Execution, { finishedAt: string }>;
export type UnderWay = Exclude<Execution, Ended>;

/**
 * Lists the block executions of a run, those under way last. An execution that has ended meanwhile is listed once. An
 * earlier execution of the same block, from another call of a session or a resume, is listed separately.
 */
export function listExecutions(ended: readonly Ended[], underWay: readonly UnderWay[]): Execution[] {
  const lastEnds = new Map<string, string>();
  for (const { key, finishedAt } of ended)
    if (finishedAt > (lastEnds.get(key) ?? '')) lastEnds.set(key, finishedAt);
  return [...ended, ...underWay.filter(({ key, startedAt }) => startedAt > (lastEnds.get(key) ?? ''))];
}
