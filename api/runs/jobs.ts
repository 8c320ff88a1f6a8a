// POST …/jobs, GET …/jobs/{executionId}, and POST …/draft/runs for drafts (docs/start-and-poll.md).
import { z } from 'zod';
import type { ZodOpenApiResponsesObject } from 'zod-openapi';
import { listAllBlocks, listBlocksUnderWay } from '../../db/runs/blocks-under-way.ts';
import { RECORDED_MAX } from '../../db/runs/find-updated-runs.ts';
import { findRun, type RunRow } from '../../db/runs/runs.ts';
import { measureOutcome, readResultText } from '../../db/stored-values/load-references.ts';
import { listRunDeliveries } from '../../db/webhooks/deliveries.ts';
import { ServiceError } from '../../flow/errors.ts';
import { jobAcceptance } from '../../platform/observability/metrics/http-metrics.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { loadProject } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { idempotencyHeaders } from '../http/idempotency-header.ts';
import { readBody } from '../http/json-body.ts';
import { readQuery } from '../http/query.ts';
import { queryNumber } from '../http/query-fields.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { reserveAnswer } from '../http/reserve-bytes.ts';
import { answerJson, JsonText } from '../http/write-json.ts';
import { FLOWS_PATH } from '../reference/management-operations.ts';
import {
  answer,
  body,
  errorAnswer,
  flowPaths,
  runAnswer,
  VALIDATION_ERRORS,
} from '../reference/operations.ts';
import {
  accepted,
  callbackRequest,
  ended,
  imageRequest,
  overridingRequest,
  runRequest,
  underWay,
} from '../reference/run-examples.ts';
import { acceptCall, findAcceptedCall, readCallOptions } from './calls/accept-idempotently.ts';
import { acceptRun } from './calls/accept-run.ts';
import { admit } from './calls/admit.ts';
import { requireFewOverrides } from './calls/check-request.ts';
import { answerJob, describePause } from './calls/describe-outcome.ts';
import {
  ifMatchDraft,
  loadDraft,
  loadFlow,
  loadFlowIds,
  loadRun,
  runOfFlowNotFound,
} from './calls/load-flow.ts';
import { modelKeyHeaders } from './calls/read-model-keys.ts';
import { refuseIdleOfJob } from './calls/refuse-without-effect.ts';
import { requireStillAllowed } from './calls/require-still-allowed.ts';
import { OUTPUT_ERROR_EXAMPLE, runErrors, TOOL_ERROR_EXAMPLES, WAIT_ERRORS } from './run-errors.ts';
import type { RunTarget } from './run-paths.ts';
import { jobAccepted, jobState } from './run-shapes/answers.ts';
import { measureReceipt, readReceipt, receiptParameter, toReceipt } from './run-shapes/block-answers.ts';
import { describeBlockUnderWay } from './run-shapes/block-under-way.ts';
import { describeRun } from './run-shapes/describe-run.ts';
import { draftRunRequest, type JobRequest, jobRequest } from './run-shapes/requests.ts';
import { describeProblems } from './run-shapes/tool-requests.ts';
import type { Updates } from './updates.ts';

/** Maximum time that a request may ask to wait for the end. */
export const WAIT_MAX_SECONDS = 60;
/** It is answered earlier, before proxies that give up after 60 s do. */
const ANSWERED_AFTER_MS = 50_000;

const headers = idempotencyHeaders.extend({ ...modelKeyHeaders.shape, ...ifMatchDraft.shape });

const MS_PER_SECOND = 1_000;
const TOOLS_REQUIRE_SYNC_EXECUTE = 'Tool calls need a caller that waits: use …/execute or …/step.';

const jobQuery = z.strictObject({
  wait: queryNumber(0, WAIT_MAX_SECONDS)
    .default(0)
    .meta({
      description:
        'Seconds: the answer comes when the run has ended or pauses, at the latest after these, and always within 55 s.',
      override: { default: 0 },
    }),
  receipt: receiptParameter,
});

/** Lists the endpoints that start asynchronous runs and report on runs. */
export function jobRoutes(deps: ApiDeps, updates: Updates): Route[] {
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
        202: runAnswer(
          'The run is accepted. It will end, whatever process fails in the meantime.',
          jobAccepted,
          {
            accepted,
          },
        ),
        ...jobErrors(),
      },
    },
    handlers: [...identifyCaller(deps, 'run'), loadFlow(deps), ...jobHandlers(deps)],
  }));
  const poll: Route[] = flowPaths('/jobs/:executionId').map(({ path, versioned }) => ({
    method: 'get',
    path,
    operation: {
      operationId: versioned ? 'getVersionJob' : 'getJob',
      summary: 'Get the state, result and per-block usage of a run',
      tags: ['Execution'],
      requestParams: { query: jobQuery },
      responses: {
        200: answer('The run as it is now. Ask again while it is `started`.', jobState, {
          started: underWay,
          completed: ended,
        }),
        ...WAIT_ERRORS,
        ...VALIDATION_ERRORS,
        413: errorAnswer('The result is larger than a result may be.', OUTPUT_ERROR_EXAMPLE),
      },
    },
    handlers: [
      ...identifyCaller(deps, 'run', 'read'),
      loadFlowIds(deps, { deletedToo: true }),
      readQuery(jobQuery),
      loadRun(deps),
      waitForEnd(deps, updates),
      getJob(deps),
    ],
  }));
  return [...start, ...poll];
}

/** The errors of endpoints that start jobs, by status. */
function jobErrors(target?: RunTarget): ZodOpenApiResponsesObject {
  return {
    405: errorAnswer('`tools` need /execute or /step.', { TOOLS_REQUIRE_SYNC_EXECUTE }),
    ...runErrors({ 400: { TOOLS_INVALID: TOOL_ERROR_EXAMPLES[400].TOOLS_INVALID as string } }, target),
  };
}

/** The handlers that read a job and start a run of `ctx.state.flow`. */
function jobHandlers(deps: ApiDeps, request: z.ZodType = jobRequest): ApiMiddleware[] {
  return [
    admit(deps, { priority: 'low' }),
    readBody(deps, request, {
      first: refuseTools,
      before: [requireFewOverrides, refuseIdleOfJob],
      describe: describeProblems,
    }),
    readCallOptions(deps, 'jobs'),
    startJob(deps),
  ];
}

/** Throws TOOLS_REQUIRE_SYNC_EXECUTE ahead of all other checks except those of an unreadable body. */
function refuseTools(body: unknown): void {
  if ((body as { tools?: unknown } | null)?.tools != null)
    throw new ServiceError('TOOLS_REQUIRE_SYNC_EXECUTE', TOOLS_REQUIRE_SYNC_EXECUTE);
}

function startJob(deps: ApiDeps): ApiMiddleware {
  return async function startJob(ctx) {
    const run = await acceptCall<JobRequest>(deps, ctx, (request) => acceptRun(deps, request, 'jobs'));
    ctx.state.releaseBody();
    await answerJob(deps, ctx, run);
    if (run.storingSince !== undefined)
      jobAcceptance.record((performance.now() - run.storingSince) / MS_PER_SECOND);
  };
}

function getJob(deps: ApiDeps): ApiMiddleware {
  return async function getJob(ctx) {
    const { flowIds, run } = ctx.state;
    const { receipt } = ctx.state.query as z.infer<typeof jobQuery>;
    const ended = run.concluded_by ?? run.execution_id;
    const pauses = run.pause !== null;
    const ofOutcome = await measureOutcome(deps.db, ended, { result: run.result, pauses });
    const ofReceipt = receipt ? await measureReceipt(deps.db, run.execution_id) : 0;
    const described = await describeRun(deps, run);
    const paused = run.pause ? await findAcceptedCall(deps, ended) : undefined;
    const { organizationId } = flowIds;
    await reserveAnswer(deps, ctx, organizationId, ofOutcome + ofReceipt);
    answerJson(ctx, {
      ...described,
      ...(run.result && { result: new JsonText(await readResultText(deps.db, ended, run.result)) }),
      // For a caller who lost the response with the pause.
      ...(run.pause && paused && (await describePause(deps, paused, run.pause))),
      ...(await describeProgress(deps, run, receipt)),
    });
  };
}

/**
 * Describes a run's progress: the blocks in flight, then the deliveries that report its end. With `receipt`, also what its
 * blocks did and cost.
 */
async function describeProgress(
  deps: ApiDeps,
  { execution_id: executionId, status, mode }: RunRow,
  receipt: boolean,
) {
  const { db } = deps;
  if (status === 'started') {
    if (!receipt)
      return { blocksUnderWay: (await listBlocksUnderWay(db, executionId)).map(describeBlockUnderWay) };
    const { blocks, underWay } = await listAllBlocks(db, executionId);
    return { blocksUnderWay: underWay.map(describeBlockUnderWay), ...toReceipt(deps, blocks) };
  }
  const read = receipt ? await readReceipt(deps, executionId) : {};
  if (status !== 'completed' && status !== 'failed') return read;
  const deliveries = mode === 'jobs' ? await listRunDeliveries(db, executionId) : [];
  return {
    ...read,
    deliveries: deliveries.map((delivery) => ({
      id: delivery.id,
      event: delivery.event_type,
      status: delivery.status,
    })),
  };
}

export function draftRunRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'post',
      path: `${FLOWS_PATH}/:flow_id/draft/runs`,
      operation: {
        operationId: 'runDraft',
        summary: 'Start a run of the draft of a flow',
        description:
          'The draft has to be complete. The run has version 0 and environment `test`, keeps the draft as it is now, and costs what any run costs. Follow it, read it and cancel it as a job: `GET …/jobs/{executionId}`.',
        tags: ['Execution'],
        requestParams: { header: headers },
        requestBody: body(draftRunRequest, {
          message: runRequest,
          overrides: overridingRequest,
          images: imageRequest,
        }),
        responses: {
          202: runAnswer('The run is accepted.', jobAccepted, { accepted }),
          ...jobErrors('draft'),
        },
      },
      handlers: [
        ...identifyCaller(deps, 'deploy'),
        loadProject(deps, 'member'),
        loadDraft(deps),
        ...jobHandlers(deps, draftRunRequest),
      ],
    },
  ];
}

/**
 * Waits until the run has ended or paused, for at most the seconds in the query, and loads it again. Stops waiting
 * when the process stops or the client has gone. Throws the errors of a new request when the caller has lost access.
 */
function waitForEnd(deps: ApiDeps, updates: Updates): ApiMiddleware {
  return async function waitForEnd(ctx, next) {
    const { wait } = ctx.state.query as { wait: number };
    const { run, flowIds } = ctx.state;
    if (wait > 0 && run.status === 'started') {
      const { organizationId } = flowIds;
      const ended = { organizationId, executionId: run.execution_id, after: RECORDED_MAX };
      const { release } = deps.openRequests.follow(organizationId);
      ctx.state.releaseRequest?.();
      await updates
        .wait(ended, Math.min(wait * 1_000, ANSWERED_AFTER_MS), readerSignal(ctx.res, deps.stopping))
        .finally(release);
      await requireStillAllowed(deps, ctx.state.principal, organizationId);
      const later = await findRun(deps.db, flowIds.flowId, run.execution_id);
      if (!later) throw runOfFlowNotFound();
      ctx.state.run = later;
    }
    await next();
  };
}
