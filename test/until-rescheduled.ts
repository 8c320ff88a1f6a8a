import type { Weir } from './harness.ts';
import { waitUntil } from './wait-until.ts';

/** Waits until a block of the run was rescheduled: the run waits on a timer. */
export function untilRescheduled({ client }: Pick<Weir, 'client'>, executionId: string): Promise<true> {
  return waitUntil(async () => {
    const { events } = await client.workflow.getHandle(executionId).fetchHistory();
    return events?.some((event) => event.timerStartedEventAttributes) ?? false;
  });
}
