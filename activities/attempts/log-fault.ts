import type { Info } from '@temporalio/activity';
import { TemporalFailure } from '@temporalio/common';
import { logOutage } from '../../db/connection/database-errors.ts';
import { ServiceError } from '../../flow/errors.ts';
import { PermitRejected } from '../../platform/limits/fair-queue.ts';
import { ObjectStoreUnavailable } from '../../platform/object-store/object-store.ts';
import { log } from '../../platform/observability/log.ts';
import { CallStopped } from '../cancellations.ts';
import { SandboxUnavailable } from '../code/sandbox-errors.ts';
import { isDelayedAfterLostWorkers } from './delay-after-lost-workers.ts';
import { ModelUnavailable } from './model-unavailable.ts';

/**
 * Logs an error that callers are not told, with the id of the run, test run or delivery that they know: a fault of the
 * service, or the delay of a block whose worker was lost again and again.
 */
export function logFault(error: unknown, { workflowExecution, activityType, attempt }: Info): void {
  const fields = { workflow_id: workflowExecution?.workflowId, activity: activityType, attempt };
  if (isDelayedAfterLostWorkers(error)) log.warn(fields, error.message);
  const forCallers = [ServiceError, ModelUnavailable, TemporalFailure, PermitRejected, CallStopped].some(
    (type) => error instanceof type,
  );
  if (forCallers || (error instanceof Error && error.name === 'AbortError')) return;
  if (logOutage(error)) return;
  if (error instanceof ObjectStoreUnavailable || error instanceof SandboxUnavailable)
    log.warn({ ...fields, reason: error.message }, 'An activity is repeated: what it needs is away.');
  else log.error({ ...fields, err: error }, 'An activity failed, and is repeated.');
}
