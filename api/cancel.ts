// POST …/jobs/{executionId}/cancel: stops a run and what it spends.
import { WorkflowNotFoundError } from '@temporalio/client';
import { listUnderWay, requestCancel } from '../db/cancel-run.ts';
import { findRunDelivery } from '../db/open-deliveries.ts';
import { findRun, finishRun, type RunRow } from '../db/runs.ts';
import { CANCELLED, type RunOutcome, workflowIdOf } from '../flow/run.ts';
import { authenticate } from './authenticate.ts';
import type { ApiDeps, ApiMiddleware, Route } from './context.ts';
import { endedState, startedState } from './examples.ts';
import { limitRate } from './limit-rate.ts';
import { loadFlow } from './load-flow.ts';
import { loadRun } from './load-run.ts';
import { answer, flowPaths, READ_ERRORS } from './operations.ts';
import { runState } from './requests.ts';
import { startDeliverySoon } from './start-delivery.ts';
import { toRun } from './to-run.ts';

/** A caller does not wait longer for an engine that is away; the reconciler hands the cancellation on. */
const CANCEL_TIMEOUT_MS = 5_000;

/** Cancels runs. */
export function cancelRoutes(deps: ApiDeps): Route[] {
  return flowPaths('/jobs/:executionId/cancel').map(({ path, versioned }) => ({
    method: 'post',
    path,
    operation: {
      operationId: versioned ? 'cancelVersionJob' : 'cancelJob',
      summary: 'Stop a run',
      description:
        'Aborts what the run is doing; it ends as failed, and nothing more is charged for it. May be repeated. The request body is ignored.',
      tags: ['Execution'],
      responses: {
        200: answer('The run had ended already and is left as it is.', runState, { ended: endedState }),
        202: answer('The run as it stands; it ends within seconds.', runState, { started: startedState }),
        ...READ_ERRORS,
      },
    },
    handlers: [authenticate(deps), limitRate(deps), loadFlow(deps), loadRun(deps), cancelJob(deps)],
  }));
}

function cancelJob(deps: ApiDeps): ApiMiddleware {
  return async function cancelJob(ctx) {
    const { run } = ctx.state;
    const ended = run.status === 'completed' || run.status === 'failed';
    ctx.status = ended ? 200 : 202;
    ctx.body = await toRun(deps.db, ended ? run : await cancel(deps, run));
  };
}

async function cancel(deps: ApiDeps, run: RunRow): Promise<RunRow> {
  await requestCancel(deps.db, run.execution_id);
  for (const part of await listUnderWay(deps.db, run.execution_id)) await cancelWorkflow(deps, part);
  return (await findRun(deps.db, run.flow_id, run.execution_id)) ?? run;
}

async function cancelWorkflow(
  deps: ApiDeps,
  run: { executionId: string; continues: string | null },
): Promise<void> {
  const { db, client, localRuns } = deps;
  try {
    await client.withDeadline(Date.now() + CANCEL_TIMEOUT_MS, () =>
      client.workflow.getHandle(workflowIdOf(run)).cancel(),
    );
  } catch (error) {
    // Without a workflow it was not started yet, or has just ended.
    if (error instanceof WorkflowNotFoundError) {
      const outcome: RunOutcome = { status: 'failed', error: CANCELLED };
      if (!(await finishRun(db, run.executionId, outcome))) return;
      localRuns?.end(run.executionId, outcome);
      const delivery = await findRunDelivery(db, run.executionId);
      if (delivery) await startDeliverySoon(deps, delivery);
    } else console.error(`Run ${run.executionId} could not be cancelled yet: ${error}`);
  }
}
