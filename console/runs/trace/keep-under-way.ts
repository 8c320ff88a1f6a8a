import type { UnderWay } from './list-executions.ts';

/** A block execution that was under way; `goneAt` is when the run first answered that it is not. */
export type Kept = { block: UnderWay; goneAt: number };

/**
 * Notes what the run answered at a time to be under way. What was before, and is not now, has ended: it is kept until the
 * ended executions were asked for after that (`askedAt` is when they last were), lest it be in neither list for a while.
 */
export function keepUnderWay(
  before: readonly Kept[],
  underWay: readonly UnderWay[],
  at: number,
  askedAt: number,
): Kept[] {
  const keys = new Set(underWay.map(({ key }) => key));
  const gone = before
    .filter(({ block, goneAt }) => !keys.has(block.key) && askedAt < goneAt)
    .map(({ block, goneAt }) => ({ block, goneAt: Math.min(goneAt, at) }));
  return [...gone, ...underWay.map((block) => ({ block, goneAt: Number.POSITIVE_INFINITY }))];
}
