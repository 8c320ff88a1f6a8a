// GET …/jobs/{executionId}/fork: where a /step session goes on from in the middle of a stored run.
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
import { holdBytes } from '../http/hold-answer-bytes.ts';
import { BODY_MAX_BYTES } from '../http/json-body.ts';
import { readQuery } from '../http/query.ts';
import {
  answer,
  flowPaths,
  OUTPUT_TOO_LARGE,
  READ_ERRORS,
  refusal,
  VALIDATION_ERRORS,
} from '../reference/operations.ts';
import { cursor } from '../reference/run-examples.ts';
import { loadFlow } from './load-flow.ts';
import { loadRun } from './load-run.ts';
import { stepCursor } from './requests.ts';

const forkQuery = z.strictObject({
  step: z
    .string('is required: the index of a step')
    .regex(/^\d{1,6}$/, 'is the index of a step')
    .transform(Number)
    .meta({ description: '0-based index in the step plan; a parallel or loop step counts as one.' }),
});

/** Answers cursors into stored runs. */
export function forkRoutes(deps: ApiDeps): Route[] {
  return flowPaths('/jobs/:executionId/fork').map(({ path, versioned }) => ({
    method: 'get',
    path,
    operation: {
      operationId: versioned ? 'forkVersionJob' : 'forkJob',
      summary: 'A /step cursor from a step of a stored run',
      tags: ['Execution'],
      requestParams: { query: forkQuery },
      responses: {
        200: answer('What a /step session from there starts with.', stepCursor, { cursor }),
        ...READ_ERRORS,
        409: refusal('A step before has not completed; `detail.step_id` names it.', {
          CONFLICT: {
            message:
              'The run has not completed the step topics, which comes before: topics has not completed.',
            step_id: 'topics',
          },
        }),
        413: refusal('The outputs are larger than a request of /step may be.', {
          BODY_TOO_LARGE:
            'The outputs before this step have more than the 10485760 bytes that a request of /step may have.',
          OUTPUT_TOO_LARGE,
        }),
        ...VALIDATION_ERRORS,
      },
    },
    handlers: [
      authenticate(deps),
      limitRate(deps),
      loadFlow(deps),
      loadRun(deps),
      readQuery(forkQuery),
      forkJob(deps),
    ],
  }));
}

function forkJob({ db, definitions }: ApiDeps): ApiMiddleware {
  return async function forkJob(ctx) {
    const { run } = ctx.state;
    if (run.version === DRAFT_VERSION)
      throw new ServiceError('INVALID_VERSION', 'The run is of a draft, which …/step does not run.');
    const { step } = ctx.state.query as z.infer<typeof forkQuery>;
    const plan = toPlan((await definitions.get(run.flow_version_id)).steps);
    if (step >= plan.length) throw outOfRange(plan.length);
    const parts = await listCalls(db, run.execution_id);
    const ids = parts.map(({ executionId }) => executionId);
    await holdBytes(ctx, Math.min(await measureOutputs(db, ids), BODY_MAX_BYTES));
    const accumulatedOutputs = await collectOutputs(db, parts, plan.slice(0, step));
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

/** What the steps answered last, in the run and its continuations, whose callers may have sent other outputs. */
async function collectOutputs(
  db: Db,
  parts: Awaited<ReturnType<typeof listCalls>>,
  steps: PlannedStep[],
): Promise<{ [stepId: string]: Json }> {
  const outputs: { [stepId: string]: Json } = {};
  let missing: ComposedOutputs['missing'];
  const findAbsent = () => steps.find(({ step_id }) => !Object.hasOwn(outputs, step_id));
  for (const part of parts) {
    if (!findAbsent()) break;
    const { from, to } = part;
    const { continuation } = await getRunInput(db, part.executionId);
    const composed = await composeOutputs(
      steps.slice(from, to),
      new Set(part.completed),
      boundedLoad(db, part.executionId),
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
    const why = missing?.step_id === absent.step_id ? missing.message : 'it was not run';
    const message = `The run has not completed the step ${absent.step_id}, which comes before: ${why}.`;
    throw new ServiceError('CONFLICT', message, { step_id: absent.step_id });
  }
  return Object.fromEntries(steps.map(({ step_id }) => [step_id, outputs[step_id] as Json]));
}

/** Reads each output of one part once, and no more than a request of /step could carry. */
function boundedLoad(db: Db, executionId: string): Load {
  const loaded = new Map<string, Stored>();
  return async (refs) => {
    const absent = refs.filter((ref) => !loaded.has(ref));
    if (absent.length === 0) return loaded;
    for (const [ref, stored] of await loadReferences(db, executionId, absent)) loaded.set(ref, stored);
    requireCarriable([...loaded.values()].reduce((sum, { bytes }) => sum + bytes, 0));
    return loaded;
  };
}

/** Throws BODY_TOO_LARGE. */
function requireCarriable(bytes: number): void {
  if (bytes > BODY_MAX_BYTES)
    throw new ServiceError(
      'BODY_TOO_LARGE',
      `The outputs before this step have more than the ${BODY_MAX_BYTES} bytes that a request of /step may have.`,
    );
}

function outOfRange(steps: number): ServiceError {
  const message = steps === 0 ? 'the flow has no steps' : `is the index of a step, from 0 to ${steps - 1}`;
  return new ServiceError('VALIDATION_ERROR', `step: ${message}`, { errors: [{ field: 'step', message }] });
}
