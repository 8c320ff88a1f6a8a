// POST …/jobs and GET …/jobs/{executionId} (spec: Endpoints)

import { readResult } from '../../db/runs/read-result.ts';
import { describeEngineError } from '../../engine/describe-engine-error.ts';
import { startRun } from '../../engine/start-run.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { PausePoint } from '../../flow/tool-calls.ts';
import { authenticate } from '../auth/authenticate.ts';
import { limitRate } from '../auth/limit-rate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { holdAnswer } from '../http/hold-answer-bytes.ts';
import { readBody } from '../http/json-body.ts';
import {
  answer,
  body,
  flowPaths,
  OUTPUT_TOO_LARGE,
  READ_ERRORS,
  refusal,
  runAnswer,
} from '../reference/operations.ts';
import { runErrors } from '../reference/run-errors.ts';
import {
  accepted,
  callbackRequest,
  ended,
  imageRequest,
  overridingRequest,
  runRequest,
  underWay,
} from '../reference/run-examples.ts';
import { TOOL_REFUSALS } from '../reference/tool-refusals.ts';
import { acceptIdempotently, findAcceptedRun } from './accept-idempotently.ts';
import { acceptRun } from './accept-run.ts';
import { describePause } from './describe-outcome.ts';
import { describeRun } from './describe-run.ts';
import { loadFlow } from './load-flow.ts';
import { loadRun } from './load-run.ts';
import { readIdempotencyKey } from './read-idempotency-key.ts';
import { modelKeyHeaders, readModelKeys } from './read-model-keys.ts';
import { readReceipt } from './receipt.ts';
import { idempotencyHeaders, jobAccepted, jobRequest, jobState } from './requests.ts';
import { requireFewOverrides } from './require-valid-overrides.ts';
import { describeProblems } from './tool-requests.ts';

const TOOLS_REQUIRE_SYNC_EXECUTE = 'Tool calls need a caller that waits: use …/execute.';

/** Starts runs and reports on them. */
export function jobRoutes(deps: ApiDeps): Route[] {
  const start: Route[] = flowPaths('/jobs').map(({ path, versioned }) => ({
    method: 'post',
    path,
    operation: {
      operationId: versioned ? 'startVersionJob' : 'startJob',
      summary: versioned ? 'Start a published version' : 'Start the production version',
      tags: ['Execution'],
      requestParams: { header: idempotencyHeaders.extend(modelKeyHeaders.shape) },
      requestBody: body(jobRequest, {
        message: runRequest,
        overrides: overridingRequest,
        images: imageRequest,
        callback: callbackRequest,
      }),
      responses: {
        202: runAnswer('The run is accepted and will end, whatever process fails meanwhile.', jobAccepted, {
          accepted,
        }),
        405: refusal('`tools` need /execute.', { TOOLS_REQUIRE_SYNC_EXECUTE }),
        ...runErrors({ 400: { TOOLS_INVALID: TOOL_REFUSALS[400].TOOLS_INVALID } }),
      },
    },
    handlers: [
      authenticate(deps),
      limitRate(deps),
      loadFlow(deps),
      readBody(jobRequest, { before: [refuseTools, requireFewOverrides], describe: describeProblems }),
      readIdempotencyKey('jobs'),
      readModelKeys(deps),
      startJob(deps),
    ],
  }));
  const poll: Route[] = flowPaths('/jobs/:executionId').map(({ path, versioned }) => ({
    method: 'get',
    path,
    operation: {
      operationId: versioned ? 'getVersionJob' : 'getJob',
      summary: 'State, result and per-block usage of a run',
      tags: ['Execution'],
      responses: {
        200: answer('The run as it stands; ask again while it is `started`.', jobState, {
          started: underWay,
          completed: ended,
        }),
        ...READ_ERRORS,
        413: refusal('The result is larger than any may be.', { OUTPUT_TOO_LARGE }),
      },
    },
    handlers: [authenticate(deps), limitRate(deps), loadFlow(deps), loadRun(deps), getJob(deps)],
  }));
  return [...start, ...poll];
}

/** Whatever else is wrong with the body. */
function refuseTools(body: unknown): void {
  if ((body as { tools?: unknown } | null)?.tools !== undefined)
    throw new ServiceError('TOOLS_REQUIRE_SYNC_EXECUTE', TOOLS_REQUIRE_SYNC_EXECUTE);
}

function startJob(deps: ApiDeps): ApiMiddleware {
  return async function startJob(ctx) {
    const run = await acceptIdempotently(deps, ctx, () => acceptRun(deps, ctx, 'jobs'));
    // The run is stored: should its workflow not start now, the reconciler starts it.
    const { executionId, flowId, blockCount } = run;
    if (!run.outcome)
      await startRun(deps, run).catch((error: unknown) =>
        console.error(`Run ${executionId} could not be started yet: ${describeEngineError(error)}`),
      );
    ctx.status = 202;
    ctx.body = { executionId, status: 'started', flowId, blockCount };
  };
}

function getJob(deps: ApiDeps): ApiMiddleware {
  return async function getJob(ctx) {
    const { run } = ctx.state;
    const ended = run.concluded_by ?? run.execution_id;
    await holdAnswer(ctx, deps.db, ended, { result: run.result, pauses: run.pause !== null });
    ctx.body = {
      ...(await describeRun(deps, run)),
      ...(run.result && { result: await readResult(deps.db, ended, run.result) }),
      ...(run.pause && (await pauseOf(deps, ended, run.pause))),
      ...(await readReceipt(deps.db, run.execution_id)),
    };
  };
}

/** A caller that lost the answer of a pause goes on from here. */
async function pauseOf(deps: ApiDeps, executionId: string, pause: PausePoint) {
  const paused = await findAcceptedRun(deps, executionId);
  return paused && describePause(deps, paused, pause);
}
