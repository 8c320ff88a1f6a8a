import type { Attempt } from '../../activities/attempts/run-attempt.ts';

/** A regular activity's attempt number `begun`: none of them was refused, and nothing is kept. */
export const attemptOf = (begun: number): Attempt => ({
  number: 1,
  begun,
  refusals: 0,
  unreadable: 0,
  isLocal: false,
  waitMaxMs: Infinity,
  signal: new AbortController().signal,
  kept: undefined,
  keep: () => true,
});
