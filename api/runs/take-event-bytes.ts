import type { LargeValues } from '../../platform/large-values/large-values.ts';
import { type TurnToLeave, takeTurnToLeave } from '../../platform/limits/turn-to-leave.ts';
import { StreamInterruption } from '../http/event-stream.ts';

/**
 * Waits until an organization may hold so many bytes for one event of a stream; returns the function that gives them back.
 * Throws StreamInterruption when `signal` aborts first.
 */
export async function takeEventBytes(
  { answers }: Pick<LargeValues, 'answers'>,
  organizationId: string,
  bytes: number,
  signal: AbortSignal,
): Promise<() => void> {
  return untilInterrupted(answers.take(organizationId, bytes, signal), signal);
}

/** Waits for a turn at parsing so many bytes for an event, where that is large. Throws as `takeEventBytes` does. */
export async function takeEventWork(
  { work }: Pick<LargeValues, 'work'>,
  organizationId: string,
  bytes: number,
  signal: AbortSignal,
): Promise<TurnToLeave> {
  const take = () => untilInterrupted(work.take(organizationId, bytes, { signal }), signal);
  return takeTurnToLeave(take);
}

function untilInterrupted<T>(taken: Promise<T>, signal: AbortSignal): Promise<T> {
  return taken.catch((error: unknown) => {
    throw signal.aborted ? new StreamInterruption('stopping') : error;
  });
}
