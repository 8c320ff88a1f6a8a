// A block whose workers are lost again and again may be what kills them. Its attempts are delayed, longer each time, so that it
// cannot take other runs down with it. Operators find the run among the stuck ones, and cancel it if it is to blame.
import { ApplicationFailure } from '@temporalio/activity';
import type { Progress } from './attempt-progress.ts';

/** This many losses cause no delay: workers are also killed for reasons that have nothing to do with the block. */
const LOST_WITHOUT_DELAY_MAX = 5;
const DELAY_MIN_MS = 60_000;
const DELAY_MAX_MS = 600_000;
/** The failure type of a delayed attempt, as operators read it in the Temporal Web UI. */
const DELAYED = 'DELAYED_AFTER_LOST_WORKERS';

/** Throws the failure that delays a regular attempt when too many earlier ones were lost with their workers. */
export function delayAfterLostWorkers(progress: Progress, attempt: number): void {
  const lost = attempt - 1 - progress.ended;
  if (lost <= LOST_WITHOUT_DELAY_MAX || lost === progress.heldAfter) return;
  progress.heldAfter = lost;
  throw delayed(lost);
}

/** Counts the lost workers of a local attempt, and throws the failure that delays it when there are too many. */
export function countLostWorkers(attempt: { number: number; begun: number }, lost: number): void {
  attempt.number = Math.max(attempt.number, 1 + lost);
  if (lost > LOST_WITHOUT_DELAY_MAX && attempt.begun === 1) throw delayed(lost);
}

function delayed(lost: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: DELAYED,
    message: `The worker was lost during ${lost} attempts: the next one is delayed.`,
    nextRetryDelay: Math.min(DELAY_MIN_MS * 2 ** (lost - LOST_WITHOUT_DELAY_MAX - 1), DELAY_MAX_MS),
  });
}

/** Whether an error delays a block whose workers were lost: not a fault, but operators have to know. */
export function isDelayedAfterLostWorkers(error: unknown): error is ApplicationFailure {
  return error instanceof ApplicationFailure && error.type === DELAYED;
}
