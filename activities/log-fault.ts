import type { Info } from '@temporalio/activity';
import { TemporalFailure } from '@temporalio/common';
import { ConnectionFailed } from '../db/connection-failed.ts';
import { ServiceError } from '../flow/errors.ts';
import { ModelUnavailable } from './model-unavailable.ts';

/** Logs what no caller is told: an error of ours, beside the id of the run, test run or delivery that they know. */
export function logFault(error: unknown, { workflowExecution, activityType, attempt }: Info): void {
  const forCallers = [ServiceError, ModelUnavailable, TemporalFailure].some((type) => error instanceof type);
  if (forCallers || (error instanceof Error && error.name === 'AbortError')) return;
  const told = error instanceof ConnectionFailed ? error.message : error;
  console.error(`${workflowExecution?.workflowId}: ${activityType} failed at attempt ${attempt}:`, told);
}
