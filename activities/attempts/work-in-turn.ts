import type { LargeWorkNow } from '../../fairness/large-work.ts';
import { NoRoom } from './reserve-memory.ts';
import type { Attempt } from './run-attempt.ts';

/**
 * Does work on a value of `bytes` in its organization's turn, where that is large. An attempt that may not wait for the turn
 * throws NoRoom.
 */
export async function workInTurn<T>(
  turns: LargeWorkNow,
  owner: string,
  bytes: number,
  { mayWait, signal }: Pick<Attempt, 'mayWait' | 'signal'>,
  work: () => T | Promise<T>,
): Promise<T> {
  const endTurn = mayWait ? await turns.take(owner, bytes, { signal }) : turns.takeNow(owner, bytes);
  if (!endTurn) throw new NoRoom();
  try {
    return await work();
  } finally {
    endTurn();
  }
}
