// GET …/jobs/{executionId}/fork: a cursor from which a new /step session goes on with a stored run.
import { z } from 'zod';
import { listCalls } from '../../db/runs/list-calls.ts';
import { measureOutputs } from '../../db/runs/load-references.ts';
import { getRunInput } from '../../db/runs/runs.ts';
import { DRAFT_VERSION } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { toPlan } from '../../flow/plan.ts';
import { authenticate } from '../auth/authenticate.ts';
import { limitRate } from '../auth/limit-rate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { holdAnswerBytes } from '../http/hold-answer-bytes.ts';
import { readQuery } from '../http/query.ts';
import { BODY_MAX_BYTES } from '../http/receive-body.ts';
import { answer, examplesOf, flowPaths, refusal, VALIDATION_ERRORS } from '../reference/operations.ts';
import { cursor } from '../reference/run-examples.ts';
import { stepCursor } from './answers.ts';
import { collectOutputs, notCompleted, tooLarge } from './collect-outputs.ts';
import { loadFlowIds } from './load-flow.ts';
import { loadRun } from './load-run.ts';
import { OUTPUT_REFUSAL, READ_ERRORS } from './run-refusals.ts';

const forkQuery = z.strictObject({
  step: z
    .string('is required: the index of a step')
    .regex(/^\d{1,6}$/, 'must be the index of a step')
    .transform(Number)
    .meta({ description: 'The 0-based index in the step plan. A parallel or loop step counts as one.' }),
});

/** Lists the endpoints that fork stored runs. */
export function forkRoutes(deps: ApiDeps): Route[] {
  return flowPaths('/jobs/:executionId/fork').map(({ path, versioned }) => ({
    method: 'get',
    path,
    operation: {
      operationId: versioned ? 'forkVersionJob' : 'forkJob',
      summary: 'Get a /step cursor from a step of a stored run',
      tags: ['Execution'],
      requestParams: { query: forkQuery },
      responses: {
        200: answer('The request that starts a /step session from there.', stepCursor, { cursor }),
        ...READ_ERRORS,
        409: refusal(
          'The step before has not completed; `detail.step_id` names it, or the one before it that has not.',
          examplesOf(notCompleted('topics', 'topics has not completed')),
        ),
        413: refusal('The output of the step before is larger than a request of /step may be.', {
          ...examplesOf(tooLarge('topics')),
          ...OUTPUT_REFUSAL,
        }),
        ...VALIDATION_ERRORS,
      },
    },
    handlers: [
      authenticate(deps),
      limitRate(deps),
      loadFlowIds(deps),
      loadRun(deps),
      readQuery(forkQuery),
      forkJob(deps),
    ],
  }));
}

function forkJob({ db, definitions, largeValues }: ApiDeps): ApiMiddleware {
  return async function forkJob(ctx) {
    const { flowIds, run } = ctx.state;
    if (run.version === DRAFT_VERSION)
      throw new ServiceError('INVALID_VERSION', 'This is a run of a draft, which …/step does not run.');
    const { step } = ctx.state.query as z.infer<typeof forkQuery>;
    const plan = toPlan((await definitions.get(run.flow_version_id)).steps);
    if (step >= plan.length) throw outOfRange(plan.length);
    const calls = await listCalls(db, run.execution_id);
    const ids = calls.map(({ callId }) => callId);
    const bytes = Math.min(await measureOutputs(db, ids), BODY_MAX_BYTES);
    await holdAnswerBytes(largeValues, ctx.res, flowIds.organizationId, bytes);
    const input = await getRunInput(db, run.execution_id);
    const { message, parameters, block_overrides, attachments, tools, tool_choice: toolChoice } = input;
    const cursor = {
      executionId: null,
      version: run.version,
      stepIndex: step,
      accumulatedOutputs: {},
      message,
      parameters,
      ...(Object.keys(block_overrides).length > 0 && { blockOverrides: block_overrides }),
      ...(attachments && { attachments }),
      ...(tools && { tools }),
      ...(toolChoice && { toolChoice }),
    };
    const room = BODY_MAX_BYTES - Buffer.byteLength(JSON.stringify(cursor));
    ctx.body = { ...cursor, accumulatedOutputs: await collectOutputs(db, calls, plan.slice(0, step), room) };
  };
}

function outOfRange(steps: number): ServiceError {
  const message =
    steps === 0 ? 'the flow has no steps' : `must be the index of a step, from 0 to ${steps - 1}`;
  return new ServiceError('VALIDATION_ERROR', `step: ${message}`, { errors: [{ field: 'step', message }] });
}
