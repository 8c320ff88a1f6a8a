// POST …/execute (spec: Endpoints)
import { ServiceError } from '../flow/errors.ts';
import type { RunOutcome } from '../flow/run.ts';
import { acceptOnce } from './accept-once.ts';
import type { AcceptedRun } from './accept-run.ts';
import { authenticate } from './authenticate.ts';
import type { ApiContext, ApiDeps, ApiMiddleware, Route } from './context.ts';
import { completed, failed, overridingRequest, runRequest } from './examples.ts';
import { readBody } from './json-body.ts';
import { limitRate } from './limit-rate.ts';
import { loadFlow } from './load-flow.ts';
import { body, flowPaths, RUN_ERRORS, refusal, runAnswer } from './operations.ts';
import { readIdempotencyKey } from './read-idempotency-key.ts';
import { modelKeyHeaders, readModelKeys } from './read-model-keys.ts';
import { executeRequest, executeResponse, idempotencyHeaders } from './requests.ts';
import { startRun } from './start-run.ts';
import { IDENTITY_PROVIDER_UNAVAILABLE } from './verify-token.ts';
import { readResult, waitForRun } from './wait-for-run.ts';

const ENGINE_UNAVAILABLE =
  'The run is accepted and starts when the engine answers again: poll …/jobs/{executionId}.';

/** Runs a flow and answers when it has ended. */
export function executeRoutes(deps: ApiDeps): Route[] {
  return flowPaths('/execute').map(({ path, versioned }) => ({
    method: 'post',
    path,
    operation: {
      operationId: versioned ? 'executeVersion' : 'execute',
      summary: versioned ? 'Run a published version and wait' : 'Run the production version and wait',
      tags: ['Execution'],
      requestParams: { header: idempotencyHeaders.extend(modelKeyHeaders.shape) },
      requestBody: body(executeRequest, { message: runRequest, overrides: overridingRequest }),
      responses: {
        200: runAnswer('The run has ended, as `status` says.', executeResponse, { completed, failed }),
        ...RUN_ERRORS,
        503: refusal(
          'With `detail.executionId`, the run is accepted, or may be: ask for it before sending it again.',
          {
            ENGINE_UNAVAILABLE: { message: ENGINE_UNAVAILABLE, executionId: completed.executionId },
            DATABASE_UNAVAILABLE: 'The database does not answer: try again later.',
            IDENTITY_PROVIDER_UNAVAILABLE,
          },
        ),
      },
    },
    handlers: [
      authenticate(deps),
      limitRate(deps),
      loadFlow(deps),
      readBody(executeRequest),
      readIdempotencyKey('execute'),
      readModelKeys(deps),
      execute(deps),
    ],
  }));
}

function execute(deps: ApiDeps): ApiMiddleware {
  return async function execute(ctx) {
    const run = await acceptOnce(deps, ctx, 'execute');
    const { executionId, flowId, blockCount } = run;
    const outcome = run.outcome ?? (await runToEnd(deps, run, whenClosed(ctx)));
    if (!outcome) return;
    ctx.body = {
      executionId,
      status: outcome.status,
      ...(await describe(deps, executionId, outcome)),
      flowId,
      blockCount,
    };
  };
}

/** Starts the run, unless that is done, and waits; undefined when `signal` aborted first. */
function runToEnd(deps: ApiDeps, run: AcceptedRun, signal: AbortSignal): Promise<RunOutcome | undefined> {
  const { executionId } = run;
  const started = startRun(deps.client, deps.config.taskQueue, run).catch((error: unknown) => {
    console.error(`Run ${executionId} could not be started yet: ${error}`);
    throw new ServiceError('ENGINE_UNAVAILABLE', ENGINE_UNAVAILABLE, { executionId });
  });
  return waitForRun(deps, run, started, signal);
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
