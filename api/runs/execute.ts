// POST …/execute (docs/run-and-wait.md). runs/ has the endpoints that start, resume, follow, list, cancel and fork
// runs. A start or resume is checked and stored (calls/accept-*.ts), started by Temporal, and its end described.
import { z } from 'zod';
import { measureOutcome } from '../../db/stored-values/load-references.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { RunOutcome } from '../../flow/run.ts';
import { waitForRun } from '../../temporal/wait-for-run.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext, ApiMiddleware, Route } from '../http/context.ts';
import { location } from '../http/headers.ts';
import { idempotencyHeaders } from '../http/idempotency-header.ts';
import { readBody } from '../http/json-body.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { reserveAnswer } from '../http/reserve-bytes.ts';
import { answerJson } from '../http/write-json.ts';
import { body, runAnswer } from '../reference/operations.ts';
import {
  accepted,
  completed,
  failed,
  imageRequest,
  overridingRequest,
  runRequest,
} from '../reference/run-examples.ts';
import { paused, resumeRequest, toolsRequest } from '../reference/tool-call-examples.ts';
import { acceptCall, readCallOptions } from './calls/accept-idempotently.ts';
import { acceptResume } from './calls/accept-resume.ts';
import { acceptRun } from './calls/accept-run.ts';
import { admit, startAdmitted, takePermit } from './calls/admit.ts';
import { requireFewOverrides } from './calls/check-request.ts';
import { requirePauseAllowed } from './calls/check-resume.ts';
import { answerAccepted, describeOutcome } from './calls/describe-outcome.ts';
import { ifMatchDraft } from './calls/load-flow.ts';
import { modelKeyHeaders } from './calls/read-model-keys.ts';
import { refuseIdleOfExecute } from './calls/refuse-without-effect.ts';
import type { AcceptedCall } from './calls/store-call.ts';
import { answerKeptAlive, preferenceApplied, preferHeaders, readPreferences } from './prefer.ts';
import { OUTPUT_ERROR_EXAMPLE, RESUME_ERROR_EXAMPLES, runErrors, TOOL_ERROR_EXAMPLES } from './run-errors.ts';
import { runPaths } from './run-paths.ts';
import { executeResponse, jobAccepted } from './run-shapes/answers.ts';
import { mayRunMany, measureReceipt, readReceipt, receiptParameter } from './run-shapes/block-answers.ts';
import { traceIdField } from './run-shapes/describe-run.ts';
import { type ExecuteRequest, executeRequest } from './run-shapes/requests.ts';
import { describeProblems, EXCESS_MESSAGES, requireMessagesFit } from './run-shapes/tool-requests.ts';

const ENGINE_UNAVAILABLE =
  'The run is stored and will start when the engine is back. Poll …/jobs/{executionId}, or repeat the request with the same Idempotency-Key. Without a key, a repeated request starts another run.';

const SERVICE_STOPPING =
  'This process is stopping, but the run continues. Poll …/jobs/{executionId}, or repeat the request with the same Idempotency-Key. Without a key, a repeated request starts another run.';

const OPERATIONS = {
  production: { operationId: 'execute', summary: 'Run the production version and wait' },
  version: { operationId: 'executeVersion', summary: 'Run a published version and wait' },
  draft: { operationId: 'executeDraft', summary: 'Run the draft and wait' },
};

const headers = idempotencyHeaders.extend({ ...modelKeyHeaders.shape, ...preferHeaders.shape });
const executeQuery = z.strictObject({ receipt: receiptParameter });

/** Lists the endpoints that run a flow and answer when it has ended. */
export function executeRoutes(deps: ApiDeps): Route[] {
  return runPaths(deps, '/execute').map(({ path, target, identify, load }) => ({
    method: 'post',
    path,
    operation: {
      ...OPERATIONS[target],
      description:
        'Sends nothing until the run ends, so clients and proxies may give up. For a run that takes over a few seconds, send `Prefer` or start a job.',
      tags: ['Execution'],
      requestParams: {
        header: target === 'draft' ? headers.extend(ifMatchDraft.shape) : headers,
        query: executeQuery,
      },
      requestBody: body(executeRequest, {
        message: runRequest,
        overrides: overridingRequest,
        images: imageRequest,
        tools: toolsRequest,
        resume: resumeRequest,
      }),
      responses: {
        200: runAnswer(
          'The run has ended or waits for tool results, as `status` says.',
          executeResponse,
          {
            completed,
            failed,
            paused,
          },
          preferenceApplied,
        ),
        202: runAnswer(
          'With `Prefer: respond-async`: the run is accepted. Poll the path in `Location`.',
          jobAccepted,
          { accepted },
          { ...preferenceApplied, Location: location },
        ),
        ...runErrors(
          {
            ...TOOL_ERROR_EXAMPLES,
            400: { ...TOOL_ERROR_EXAMPLES[400], ...RESUME_ERROR_EXAMPLES },
            413: { ...TOOL_ERROR_EXAMPLES[413], ...OUTPUT_ERROR_EXAMPLE },
            503: {
              ENGINE_UNAVAILABLE: { message: ENGINE_UNAVAILABLE, executionId: completed.executionId },
              SERVICE_STOPPING: { message: SERVICE_STOPPING, executionId: completed.executionId },
            },
          },
          target,
        ),
      },
    },
    handlers: [
      ...identify,
      ...load,
      admitCall(deps),
      readBody(deps, executeRequest, {
        excess: EXCESS_MESSAGES,
        before: [requireMessagesFit, requireFewOverrides, refuseIdleOfExecute],
        describe: describeProblems,
      }),
      readCallOptions(deps, 'execute', executeQuery),
      execute(deps),
    ],
  }));
}

/** Admits a request. A request that does not wait for its run has low priority, as jobs have. */
function admitCall(deps: ApiDeps): ApiMiddleware {
  const waiting = admit(deps, { waits: true });
  const leaving = admit(deps, { priority: 'low' });
  return async function admitCall(ctx, next) {
    await (readPreferences(ctx).waitMs === 0 ? leaving : waiting)(ctx, next);
  };
}

function execute(deps: ApiDeps): ApiMiddleware {
  return async function execute(ctx) {
    const { waitMs, keepAlive, applied } = readPreferences(ctx);
    const resumes = (ctx.state.body as ExecuteRequest).executionId !== undefined;
    const run = await acceptCall<ExecuteRequest>(deps, ctx, (request) =>
      resumes ? acceptResume(deps, request) : acceptRun(deps, request, 'execute'),
    );
    ctx.state.releaseBody();
    if (applied) ctx.set('Preference-Applied', applied);
    const describe = (outcome: RunOutcome) => describeAnswer(deps, ctx, run, outcome);
    if (waitMs !== undefined) {
      const outcome = await runFor(deps, ctx, run, waitMs);
      if (outcome) return answerJson(ctx, await describe(outcome));
      const { organization, project, flow } = ctx.state.slugs;
      ctx.set('Location', `/api/v1/seq/${organization}/${project}/${flow}/jobs/${run.executionId}`);
      return answerAccepted(ctx, run);
    }
    const getAnswer = async () => describe(run.outcome ?? (await runToEnd(deps, ctx, run)));
    if (keepAlive) answerKeptAlive(ctx, getAnswer);
    else answerJson(ctx, await getAnswer());
  };
}

/** Describes how the call ended or paused, for `answerJson`, once there is memory for the answer. */
async function describeAnswer(
  deps: ApiDeps,
  ctx: ApiContext,
  run: AcceptedCall,
  outcome: RunOutcome,
): Promise<object> {
  const { executionId } = run;
  const { receipt } = ctx.state.query as z.infer<typeof executeQuery>;
  const pauses = outcome.status === 'tool_calls_required';
  const result = outcome.status === 'completed' ? outcome.result : null;
  const ofOutcome = await measureOutcome(deps.db, run.callId, { result, pauses });
  const mayBeLong = receipt && (run.callId !== executionId || mayRunMany(run.definition));
  const ofReceipt = mayBeLong ? await measureReceipt(deps.db, executionId) : 0;
  await reserveAnswer(deps, ctx, ctx.state.flow.organizationId, ofOutcome + ofReceipt);
  const described = await describeOutcome(deps, run, outcome);
  if (described.status === 'tool_calls_required') await requirePauseAllowed(deps, run, described);
  return {
    executionId,
    ...described,
    flowId: run.flowId,
    blockCount: run.blockCount,
    ...traceIdField(run.trace),
    ...(receipt && (await readReceipt(deps, executionId, run.callId))),
  };
}

/** Starts the call and waits for its end, at most `waitMs`. Returns undefined for a run that goes on without its caller. */
async function runFor(
  deps: ApiDeps,
  ctx: ApiContext,
  run: AcceptedCall,
  waitMs: number,
): Promise<RunOutcome | undefined> {
  if (run.outcome) return waitMs > 0 ? run.outcome : undefined;
  // A run that cannot start now is started by the reconciler.
  const started = startAdmitted(deps, run, takePermit(ctx.state)).catch(() => ({ here: false }));
  if (waitMs > 0) return waitForRun(deps, run, started, readerSignal(ctx.res, endOfWait(deps, waitMs)));
  await started;
  return undefined;
}

function endOfWait({ cutOff }: ApiDeps, waitMs: number): AbortSignal {
  const late = AbortSignal.timeout(waitMs);
  return cutOff ? AbortSignal.any([cutOff, late]) : late;
}

/** Starts the call and waits for its end. Throws SERVICE_STOPPING when the process stops first, and ENGINE_UNAVAILABLE. */
async function runToEnd(deps: ApiDeps, ctx: ApiContext, run: AcceptedCall): Promise<RunOutcome> {
  const { executionId } = run;
  const started = startAdmitted(deps, run, takePermit(ctx.state)).catch(() => {
    throw new ServiceError('ENGINE_UNAVAILABLE', ENGINE_UNAVAILABLE, { executionId });
  });
  const outcome = await waitForRun(deps, run, started, readerSignal(ctx.res, deps.cutOff));
  if (!outcome) throw new ServiceError('SERVICE_STOPPING', SERVICE_STOPPING, { executionId });
  return outcome;
}
