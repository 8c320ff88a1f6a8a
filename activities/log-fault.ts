import type { Info } from '@temporalio/activity';
import { TemporalFailure } from '@temporalio/common';
import { ConnectionFailed } from '../db/connection/connection-failed.ts';
import { ServiceError } from '../flow/errors.ts';
import { isDelayedAfterLostWorkers } from './delay-after-lost-workers.ts';
import { ModelUnavailable } from './model-unavailable.ts';

/**
 * Logs an error that callers are not told, with the id of the run, test run or delivery that they know: a fault of the
 * service, or the delay of a block whose worker was lost again and again.
 */
export function logFault(error: unknown, { workflowExecution, activityType, attempt }: Info): void {
  const activity = `${workflowExecution?.workflowId}: ${activityType}`;
  if (isDelayedAfterLostWorkers(error)) console.error(`${activity}: ${error.message}`);
  const forCallers = [ServiceError, ModelUnavailable, TemporalFailure].some((type) => error instanceof type);
  if (forCallers || (error instanceof Error && error.name === 'AbortError')) return;
  const told = error instanceof ConnectionFailed ? error.message : error;
  console.error(`${activity} failed at attempt ${attempt}:`, told);
}
