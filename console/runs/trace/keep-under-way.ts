import type { UnderWay } from './list-executions.ts';

/** A block execution that was under way; `goneAt` is the time of the first response without it. */
export type Kept = { block: UnderWay; goneAt: number };

/**
 * Records the block executions under way in a response of time `at`. One that is no longer among them has ended. It is
 * kept until the list of ended executions was fetched after that (`fetchedAt`), so that it is always in one of the lists.
 */
export function keepUnderWay(
  before: readonly Kept[],
  underWay: readonly UnderWay[],
  at: number,
  fetchedAt: number,
): Kept[] {
  const keys = new Set(underWay.map(({ key }) => key));
  const gone = before
    .filter(({ block, goneAt }) => !keys.has(block.key) && fetchedAt < goneAt)
    .map(({ block, goneAt }) => ({ block, goneAt: Math.min(goneAt, at) }));
  return [...gone, ...underWay.map((block) => ({ block, goneAt: Number.POSITIVE_INFINITY }))];
}
