// POST …/jobs and GET …/jobs/{executionId} (spec: Endpoints)
import { listBlockRuns } from '../db/block-runs.ts';
import { throughOutage } from '../db/through-outage.ts';
import { ServiceError } from '../flow/errors.ts';
import { acceptOnce } from './accept-once.ts';
import { authenticate } from './authenticate.ts';
import type { ApiDeps, ApiMiddleware, Route } from './context.ts';
import { accepted, ended, overridingRequest, runRequest, underWay } from './examples.ts';
import { readBody } from './json-body.ts';
import { limitRate } from './limit-rate.ts';
import { loadFlow } from './load-flow.ts';
import { loadRun } from './load-run.ts';
import { answer, body, flowPaths, READ_ERRORS, RUN_ERRORS, refusal, runAnswer } from './operations.ts';
import { readIdempotencyKey } from './read-idempotency-key.ts';
import { modelKeyHeaders, readModelKeys } from './read-model-keys.ts';
import { idempotencyHeaders, jobAccepted, jobRequest, jobState } from './requests.ts';
import { startRun } from './start-run.ts';
import { toBlockRun } from './to-block-run.ts';
import { toRun } from './to-run.ts';
import { readResult } from './wait-for-run.ts';

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
      requestBody: body(jobRequest, { message: runRequest, overrides: overridingRequest }),
      responses: {
        202: runAnswer('The run is accepted and will end, whatever process fails meanwhile.', jobAccepted, {
          accepted,
        }),
        405: refusal('`tools` need /execute.', { TOOLS_REQUIRE_SYNC_EXECUTE }),
        ...RUN_ERRORS,
      },
    },
    handlers: [
      authenticate(deps),
      limitRate(deps),
      loadFlow(deps),
      readBody(jobRequest),
      refuseTools,
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
      },
    },
    handlers: [authenticate(deps), limitRate(deps), loadFlow(deps), loadRun(deps), getJob(deps)],
  }));
  return [...start, ...poll];
}

const refuseTools: ApiMiddleware = async (ctx, next) => {
  if ((ctx.state.body as { tools?: unknown }).tools !== undefined)
    throw new ServiceError('TOOLS_REQUIRE_SYNC_EXECUTE', TOOLS_REQUIRE_SYNC_EXECUTE);
  await next();
};

function startJob(deps: ApiDeps): ApiMiddleware {
  return async function startJob(ctx) {
    const run = await acceptOnce(deps, ctx, 'jobs');
    // The run is stored: should its workflow not start now, the reconciler starts it.
    const { executionId, flowId, blockCount } = run;
    if (!run.outcome)
      await startRun(deps.client, deps.config.taskQueue, run).catch((error: unknown) =>
        console.error(`Run ${executionId} could not be started yet: ${error}`),
      );
    ctx.status = 202;
    ctx.body = { executionId, status: 'started', flowId, blockCount };
  };
}

function getJob({ db }: ApiDeps): ApiMiddleware {
  return async function getJob(ctx) {
    const { run } = ctx.state;
    const blocks = await throughOutage(() => listBlockRuns(db, run.execution_id));
    ctx.body = {
      ...(await toRun(db, run)),
      ...(run.result && { result: await readResult(db, run.execution_id, run.result) }),
      blocks: blocks.map(toBlockRun),
    };
  };
}
