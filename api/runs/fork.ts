// GET …/jobs/{executionId}/fork: a cursor from which a new /step session goes on with a stored run.
import { z } from 'zod';
import type { Db } from '../../db/connect.ts';
import { listCalls } from '../../db/runs/list-calls.ts';
import { loadReferences, measureOutputs } from '../../db/runs/load-references.ts';
import { getRunInput } from '../../db/runs/runs.ts';
import { type ComposedOutputs, composeOutputs } from '../../flow/compose-outputs.ts';
import { DRAFT_VERSION, type Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { type PlannedStep, toPlan } from '../../flow/plan.ts';
import { INPUT_REF, type Load, MESSAGE_REF, type Stored } from '../../flow/value.ts';
import { authenticate } from '../auth/authenticate.ts';
import { limitRate } from '../auth/limit-rate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { holdAnswerBytes } from '../http/hold-answer-bytes.ts';
import { readQuery } from '../http/query.ts';
import { BODY_MAX_BYTES } from '../http/receive-body.ts';
import {
  answer,
  examplesOf,
  flowPaths,
  refusal,
  thrownBy,
  VALIDATION_ERRORS,
} from '../reference/operations.ts';
import { cursor } from '../reference/run-examples.ts';
import { stepCursor } from './answers.ts';
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
          'An earlier step has not completed; `detail.step_id` names it.',
          examplesOf(notCompleted('topics', 'topics has not completed')),
        ),
        413: refusal('The outputs are larger than a request of /step may be.', {
          ...examplesOf(thrownBy(() => requireCarriable(BODY_MAX_BYTES + 1))),
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
    const accumulatedOutputs = await collectOutputs(db, calls, plan.slice(0, step));
    const input = await getRunInput(db, run.execution_id);
    const { message, parameters, block_overrides, attachments, tools, tool_choice: toolChoice } = input;
    ctx.body = {
      executionId: null,
      version: run.version,
      stepIndex: step,
      accumulatedOutputs,
      message,
      parameters,
      ...(Object.keys(block_overrides).length > 0 && { blockOverrides: block_overrides }),
      ...(attachments && { attachments }),
      ...(tools && { tools }),
      ...(toolChoice && { toolChoice }),
    };
  };
}

/** Collects the latest output of each step from the calls of a run. A caller may have sent other outputs with a call. */
async function collectOutputs(
  db: Db,
  calls: Awaited<ReturnType<typeof listCalls>>,
  steps: PlannedStep[],
): Promise<{ [stepId: string]: Json }> {
  const outputs: { [stepId: string]: Json } = {};
  let missing: ComposedOutputs['missing'];
  const findAbsent = () => steps.find(({ step_id }) => !Object.hasOwn(outputs, step_id));
  for (const call of calls) {
    if (!findAbsent()) break;
    const { callId, from, to } = call;
    const { continuation } = await getRunInput(db, callId);
    const composed = await composeOutputs(
      steps.slice(from, to),
      new Set(call.completed),
      boundedLoad(db, callId),
      { ref: from > 0 ? INPUT_REF : MESSAGE_REF },
    );
    const known = { ...continuation?.outputs, ...composed.outputs };
    for (const { step_id } of steps)
      if (!Object.hasOwn(outputs, step_id) && Object.hasOwn(known, step_id))
        outputs[step_id] = known[step_id] as Json;
    requireCarriable(Buffer.byteLength(JSON.stringify(outputs)));
    missing ??= composed.missing;
  }
  const absent = findAbsent();
  if (absent) {
    throw notCompleted(
      absent.step_id,
      missing?.step_id === absent.step_id ? missing.message : 'it was not run',
    );
  }
  return Object.fromEntries(steps.map(({ step_id }) => [step_id, outputs[step_id] as Json]));
}

/** Returns a loader that reads each output of a call once, and no more than a request of /step can carry. */
function boundedLoad(db: Db, callId: string): Load {
  const loaded = new Map<string, Stored>();
  return async (refs) => {
    const absent = refs.filter((ref) => !loaded.has(ref));
    if (absent.length === 0) return loaded;
    for (const [ref, stored] of await loadReferences(db, callId, absent)) loaded.set(ref, stored);
    requireCarriable([...loaded.values()].reduce((sum, { bytes }) => sum + bytes, 0));
    return loaded;
  };
}

/** Throws BODY_TOO_LARGE for outputs that a request of /step cannot carry. */
function requireCarriable(bytes: number): void {
  if (bytes > BODY_MAX_BYTES)
    throw new ServiceError(
      'BODY_TOO_LARGE',
      `The outputs before this step are over the ${BODY_MAX_BYTES} bytes that a request of /step may have.`,
    );
}

function notCompleted(stepId: string, reason: string): ServiceError {
  const message = `The run has not completed the earlier step ${stepId}: ${reason}.`;
  return new ServiceError('CONFLICT', message, { step_id: stepId });
}

function outOfRange(steps: number): ServiceError {
  const message =
    steps === 0 ? 'the flow has no steps' : `must be the index of a step, from 0 to ${steps - 1}`;
  return new ServiceError('VALIDATION_ERROR', `step: ${message}`, { errors: [{ field: 'step', message }] });
}
