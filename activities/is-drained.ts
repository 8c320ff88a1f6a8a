import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';

const ANOTHER_WORKER_MS = 100;

/** Whether an activity was stopped because its worker stops, rather than cancelled. */
export function isDrained({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof CancelledFailure && reason.message === 'WORKER_SHUTDOWN';
}

/**
 * Whether the engine has taken an activity for lost, as after an outage of the engine, or does not know it any more because its
 * workflow has ended.
 */
export function isTakenForLost({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof CancelledFailure && ['NOT_FOUND', 'TIMED_OUT'].includes(reason.message);
}

/**
 * The process has given a model call up that nobody took over. What the call has reserved and shows belongs to the attempt that
 * may follow elsewhere.
 */
export class CallForsaken extends Error {}

/** Makes the failure of an activity that another worker is to carry out, because this one stops. */
export function workerShutdown(message: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'WORKER_SHUTDOWN',
    message,
    nextRetryDelay: ANOTHER_WORKER_MS,
  });
}
