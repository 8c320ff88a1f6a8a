// A block whose workers are lost again and again may be what kills them. It is delayed, and in the end parked for an
// operator, so that it cannot take other runs down with it.
import { ApplicationFailure } from '@temporalio/activity';
import { LOST_WORKERS_MAX } from '../../flow/limits.ts';
import { PARKED } from '../../flow/run.ts';
import type { Progress } from './attempt-progress.ts';

/** This many losses cause no delay: workers are also killed for reasons that have nothing to do with the block. */
const LOST_WITHOUT_DELAY_MAX = 5;
const DELAY_MIN_MS = 60_000;
/** The failure type of a delayed attempt, as operators read it in the Temporal Web UI. */
const DELAYED = 'HELD_BACK';

/** Delays an attempt, longer each time, or parks its run, when too many earlier attempts were lost with their workers. */
export function delayAfterLostWorkers(progress: Progress, attempt: number): void {
  const lost = attempt - 1 - progress.ended;
  // With the delays here, more than an hour after the first loss.
  if (lost >= LOST_WORKERS_MAX)
    throw ApplicationFailure.nonRetryable(
      `The worker was lost during ${lost} attempts: the run is parked until an operator resumes it (weir operator runs resume).`,
      PARKED,
    );
  if (lost <= LOST_WITHOUT_DELAY_MAX || lost === progress.heldAfter) return;
  progress.heldAfter = lost;
  throw ApplicationFailure.create({
    type: DELAYED,
    message: `The worker was lost during ${lost} attempts: the next one is delayed.`,
    nextRetryDelay: DELAY_MIN_MS * 2 ** (lost - LOST_WITHOUT_DELAY_MAX - 1),
  });
}

/** Whether an error was thrown by `delayAfterLostWorkers`: not a fault, but something an operator has to know. */
export function isDelayedAfterLostWorkers(error: unknown): error is ApplicationFailure {
  return error instanceof ApplicationFailure && (error.type === DELAYED || error.type === PARKED);
}
