import type { Info } from '@temporalio/activity';
import { DELIVER_WEBHOOK } from '../../flow/delivery.ts';
import { RUN_FLOW } from '../../flow/run.ts';
import { RUN_TESTS } from '../../flow/test-case.ts';
import type { LogContext } from '../../platform/observability/log.ts';

const UUID_CHARS = 36;

/** Names in the log what an activity is for: its run, delivery or test run, whose id its workflow's id begins with. */
export function describeActivity({ workflowType, workflowExecution }: Info): LogContext {
  const id = workflowExecution?.workflowId.slice(0, UUID_CHARS);
  if (id === undefined) return {};
  if (workflowType === RUN_FLOW) return { execution_id: id };
  if (workflowType === DELIVER_WEBHOOK) return { delivery_id: id };
  return workflowType === RUN_TESTS ? { test_run_id: id } : {};
}
