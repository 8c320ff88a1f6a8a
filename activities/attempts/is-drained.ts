import { CancelledFailure } from '@temporalio/activity';

/** Whether an activity was stopped because its worker stops, rather than cancelled. */
export function isDrained({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof CancelledFailure && reason.message === 'WORKER_SHUTDOWN';
}
