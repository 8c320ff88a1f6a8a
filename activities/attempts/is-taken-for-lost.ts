import { CancelledFailure } from '@temporalio/activity';

/**
 * Whether the engine has taken an activity for lost, as after an outage of the engine, or does not know it any more because its
 * workflow has ended.
 */
export function isTakenForLost({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof CancelledFailure && ['NOT_FOUND', 'TIMED_OUT'].includes(reason.message);
}
