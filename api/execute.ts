// POST …/execute (spec: Endpoints)
import { ServiceError } from '../flow/errors.ts';
import type { RunOutcome } from '../flow/run.ts';
import { acceptRun } from './accept-run.ts';
import { authenticate } from './authenticate.ts';
import type { ApiContext, ApiDeps, ApiMiddleware, Route } from './context.ts';
import { readBody } from './json-body.ts';
import { loadFlow } from './load-flow.ts';
import { answer, flowPaths, RUN_ERRORS } from './operations.ts';
import { executeRequest, executeResponse } from './requests.ts';
import { startRun } from './start-run.ts';
import { readResult, waitForRun } from './wait-for-run.ts';

/** Runs a flow and answers when it has ended. */
export function executeRoutes(deps: ApiDeps): Route[] {
  return flowPaths('/execute').map(({ path, versioned }) => ({
    method: 'post',
    path,
    operation: {
      operationId: versioned ? 'executeVersion' : 'execute',
      summary: versioned ? 'Run a published version and wait' : 'Run the production version and wait',
      tags: ['Execution'],
      requestBody: { required: true, content: { 'application/json': { schema: executeRequest } } },
      responses: { 200: answer('The run has ended.', executeResponse), ...RUN_ERRORS },
    },
    handlers: [authenticate(deps), loadFlow(deps), readBody(executeRequest), execute(deps)],
  }));
}

function execute(deps: ApiDeps): ApiMiddleware {
  return async function execute(ctx) {
    const { flow } = ctx.state;
    const run = await acceptRun(deps, ctx, 'execute');
    const { executionId } = run;
    const started = startRun(deps.client, deps.config.taskQueue, run).catch((error: unknown) => {
      console.error(`Run ${executionId} could not be started yet: ${error}`);
      throw new ServiceError(
        'ENGINE_UNAVAILABLE',
        'The run is accepted and starts when the engine answers again: poll …/jobs/{executionId}.',
        { executionId },
      );
    });
    const outcome = await waitForRun(deps, { executionId, flowId: flow.flowId }, started, whenClosed(ctx));
    if (!outcome) return;
    ctx.body = {
      executionId,
      status: outcome.status,
      ...(await describe(deps, executionId, outcome)),
      flowId: flow.flowId,
      blockCount: flow.blockCount,
    };
  };
}

async function describe({ db }: ApiDeps, executionId: string, outcome: RunOutcome) {
  if (outcome.status === 'completed') return { result: await readResult(db, executionId, outcome.result) };
  return { result: null, errorMessage: outcome.error.message, failureReason: outcome.error.reason };
}

/** Aborts when the caller is gone; the run itself goes on. */
function whenClosed(ctx: ApiContext): AbortSignal {
  const gone = new AbortController();
  ctx.res.once('close', () => gone.abort());
  return gone.signal;
}
