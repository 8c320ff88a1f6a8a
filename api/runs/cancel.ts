// POST …/jobs/{executionId}/cancel: stops a run and its spending.
import { repeatLostWrite } from '../../db/connection/database-errors.ts';
import { requestCancel } from '../../db/runs/run-cancellation.ts';
import { findRun, type RunRow } from '../../db/runs/runs.ts';
import { CANCELLED } from '../../flow/run.ts';
import { cancelUnderWay } from '../../temporal/cancel-workflow.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { authorOf } from '../http/principal.ts';
import { answer, RUN_PATH } from '../reference/operations.ts';
import { endedState, startedState } from '../reference/run-examples.ts';
import { loadFlowIds, loadRun } from './calls/load-flow.ts';
import { READ_ERRORS } from './run-errors.ts';
import { runState } from './run-shapes/answers.ts';
import { describeRun } from './run-shapes/describe-run.ts';

/** Lists the endpoint that cancels a run. */
export function cancelRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'post',
      path: `${RUN_PATH}/cancel`,
      operation: {
        operationId: 'cancelJob',
        summary: 'Cancel a run',
        description:
          'Aborts what the run is doing. The run ends as failed, and nothing more is charged for it. The request may be repeated; its body is ignored.',
        tags: ['Execution'],
        responses: {
          200: answer('The run had already ended and stays as it is.', runState, { ended: endedState }),
          202: answer('The run as it is now; it ends within seconds.', runState, { started: startedState }),
          ...READ_ERRORS,
        },
      },
      handlers: [
        ...identifyCaller(deps, 'run'),
        loadFlowIds(deps, { deletedToo: true }),
        loadRun(deps),
        cancelJob(deps),
      ],
    },
  ];
}

function cancelJob(deps: ApiDeps): ApiMiddleware {
  return async function cancelJob(ctx) {
    const { run } = ctx.state;
    const ended = run.status === 'completed' || run.status === 'failed';
    const now = ended
      ? run
      : await cancel(deps, run, authorOf(ctx.state.principal, ctx.state.requestId).actor);
    // The run may have ended just before the cancellation.
    const stays =
      now.status === 'completed' || (now.status === 'failed' && now.error?.code !== CANCELLED.code);
    ctx.status = ended || stays ? 200 : 202;
    ctx.body = await describeRun(deps, now);
  };
}

async function cancel(deps: ApiDeps, run: RunRow, actor: string): Promise<RunRow> {
  await repeatLostWrite(() => requestCancel(deps.db, run.execution_id, actor));
  await cancelUnderWay(deps, run.execution_id);
  return (await findRun(deps.db, run.flow_id, run.execution_id)) ?? run;
}
