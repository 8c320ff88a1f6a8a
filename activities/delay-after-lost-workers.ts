// A block under which workers are lost again and again may be what ends them: it waits by itself, and in the end for an
// operator, so that it can't take the other runs with it.
import { ApplicationFailure } from '@temporalio/activity';
import { PARKED } from '../flow/run.ts';
import type { Progress } from './attempt-progress.ts';

/** Workers are killed for reasons that have nothing to do with what they run. */
const LOST_FREELY = 5;
/** With the delays here, over an hour after the first. */
const LOST_MAX = 12;
const DELAY_MIN_MS = 60_000;
const HELD_BACK = 'HELD_BACK';

/** Puts an attempt off, for longer each time, or parks its run, when too many before it were lost with their workers. */
export function delayAfterLostWorkers(progress: Progress, attempt: number): void {
  const lost = attempt - 1 - progress.ended;
  if (lost >= LOST_MAX)
    throw ApplicationFailure.nonRetryable(
      `Its worker was lost at ${lost} attempts: its run is parked until an operator has it go on (weir runs resume).`,
      PARKED,
    );
  if (lost <= LOST_FREELY || lost === progress.heldAfter) return;
  progress.heldAfter = lost;
  throw ApplicationFailure.create({
    type: HELD_BACK,
    message: `Its worker was lost at ${lost} attempts: it waits before the next.`,
    nextRetryDelay: DELAY_MIN_MS * 2 ** (lost - LOST_FREELY - 1),
  });
}

/** Whether an error is one of those above: no fault, but what an operator has to know. */
export function isDelayedAfterLostWorkers(error: unknown): error is ApplicationFailure {
  return error instanceof ApplicationFailure && (error.type === HELD_BACK || error.type === PARKED);
}
