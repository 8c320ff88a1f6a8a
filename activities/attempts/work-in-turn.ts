import type { LargeWorkNow } from '../../platform/limits/large-work.ts';
import { type Leave, takeTurnToLeave } from '../../platform/limits/turn-to-leave.ts';
import { NoRoom } from './no-room.ts';
import type { Attempt } from './run-attempt.ts';

/**
 * Does work on a value of `bytes` in its organization's turn, where that is large; others can have the turn while the work waits
 * in `leave`. An attempt that may not wait for the turn throws NoRoom. A read that goes on after that ends the turn.
 */
export async function workInTurn<T>(
  turns: LargeWorkNow,
  owner: string,
  bytes: number,
  { mayWait, signal }: Pick<Attempt, 'mayWait' | 'signal'>,
  work: (leave: Leave) => T | Promise<T>,
): Promise<T> {
  const take = async () => {
    const endTurn = mayWait ? await turns.take(owner, bytes, { signal }) : turns.takeNow(owner, bytes);
    if (!endTurn) throw new NoRoom();
    return endTurn;
  };
  // Whoever comes back holds the value already. One that may not wait has a bounded time for all of its reading.
  const takeAgain = () => turns.take(owner, bytes, { first: true, signal });
  const { end, leave } = await takeTurnToLeave(take, takeAgain);
  let reading: Promise<unknown> | undefined;
  try {
    return await work(leave);
  } catch (error) {
    if (error instanceof NoRoom) reading = error.reading;
    throw error;
  } finally {
    if (reading) void reading.then(end, end);
    else end();
  }
}
