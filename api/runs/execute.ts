// POST …/execute (docs/run-and-wait.md). runs/ has the endpoints that start, resume, follow, list, cancel and fork
// runs. A start or resume is checked and stored (calls/accept-*.ts), started by Temporal, and its end described.
import { z } from 'zod';
import { measureOutcome } from '../../db/stored-values/load-references.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { RunOutcome } from '../../flow/run.ts';
import type { Permit } from '../../platform/limits/fair-queue.ts';
import { waitForRun } from '../../temporal/wait-for-run.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { readBody } from '../http/json-body.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { reserveAnswer } from '../http/reserve-bytes.ts';
import { answerJson } from '../http/write-json.ts';
import { body, runAnswer } from '../reference/operations.ts';
import { completed, failed, imageRequest, overridingRequest, runRequest } from '../reference/run-examples.ts';
import { paused, resumeRequest, toolsRequest } from '../reference/tool-call-examples.ts';
import { acceptCall, readCallOptions } from './calls/accept-idempotently.ts';
import { acceptResume } from './calls/accept-resume.ts';
import { acceptRun } from './calls/accept-run.ts';
import { admit, startAdmitted, takePermit } from './calls/admit.ts';
import { requireFewOverrides } from './calls/check-request.ts';
import { requirePauseAllowed } from './calls/check-resume.ts';
import { describeOutcome } from './calls/describe-outcome.ts';
import { ifMatchDraft } from './calls/load-flow.ts';
import { modelKeyHeaders } from './calls/read-model-keys.ts';
import { refuseIdleOfExecute } from './calls/refuse-without-effect.ts';
import type { AcceptedCall } from './calls/store-call.ts';
import { OUTPUT_ERROR_EXAMPLE, RESUME_ERROR_EXAMPLES, runErrors, TOOL_ERROR_EXAMPLES } from './run-errors.ts';
import { runPaths } from './run-paths.ts';
import { executeResponse } from './run-shapes/answers.ts';
import { mayRunMany, measureReceipt, readReceipt, receiptParameter } from './run-shapes/block-answers.ts';
import { traceIdField } from './run-shapes/describe-run.ts';
import { type ExecuteRequest, executeRequest, idempotencyHeaders } from './run-shapes/requests.ts';
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

const headers = idempotencyHeaders.extend(modelKeyHeaders.shape);
const executeQuery = z.strictObject({ receipt: receiptParameter });

/** Lists the endpoints that run a flow and answer when it has ended. */
export function executeRoutes(deps: ApiDeps): Route[] {
  return runPaths(deps, '/execute').map(({ path, target, identify, load }) => ({
    method: 'post',
    path,
    operation: {
      ...OPERATIONS[target],
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
        200: runAnswer('The run has ended or waits for tool results, as `status` says.', executeResponse, {
          completed,
          failed,
          paused,
        }),
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
      admit(deps, { waits: true }),
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

function execute(deps: ApiDeps): ApiMiddleware {
  return async function execute(ctx) {
    const { receipt } = ctx.state.query as z.infer<typeof executeQuery>;
    const resumes = (ctx.state.body as ExecuteRequest).executionId !== undefined;
    const run = await acceptCall<ExecuteRequest>(deps, ctx, (request) =>
      resumes ? acceptResume(deps, request) : acceptRun(deps, request, 'execute'),
    );
    ctx.state.releaseBody();
    const signal = readerSignal(ctx.res, deps.cutOff);
    const outcome = run.outcome ?? (await runToEnd(deps, run, takePermit(ctx.state), signal));
    const { executionId } = run;
    if (!outcome) throw new ServiceError('SERVICE_STOPPING', SERVICE_STOPPING, { executionId });
    const pauses = outcome.status === 'tool_calls_required';
    const result = outcome.status === 'completed' ? outcome.result : null;
    const ofOutcome = await measureOutcome(deps.db, run.callId, { result, pauses });
    const mayBeLong = receipt && (resumes || mayRunMany(run.definition));
    const ofReceipt = mayBeLong ? await measureReceipt(deps.db, executionId) : 0;
    const { organizationId } = ctx.state.flow;
    await reserveAnswer(deps, ctx, organizationId, ofOutcome + ofReceipt);
    const described = await describeOutcome(deps, run, outcome);
    if (described.status === 'tool_calls_required') await requirePauseAllowed(deps, run, described);
    answerJson(ctx, {
      executionId,
      ...described,
      flowId: run.flowId,
      blockCount: run.blockCount,
      ...traceIdField(run.trace),
      ...(receipt && (await readReceipt(deps.db, executionId, run.callId))),
    });
  };
}

/** Starts the call and waits for its end. Returns undefined when `signal` aborts first. */
function runToEnd(
  deps: ApiDeps,
  run: AcceptedCall,
  permit: Permit | undefined,
  signal: AbortSignal,
): Promise<RunOutcome | undefined> {
  const { executionId } = run;
  const started = startAdmitted(deps, run, permit).catch(() => {
    throw new ServiceError('ENGINE_UNAVAILABLE', ENGINE_UNAVAILABLE, { executionId });
  });
  return waitForRun(deps, run, started, signal);
}
