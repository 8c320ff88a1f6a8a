// Accepts a run that repeats a stored one: from its beginning (rerun), or from the step that
// failed or has changed (retry).
import { listReusedCalls } from '../../../db/runs/find-reused-outputs.ts';
import { getRequestOfRun, getRunInput, type RunRow } from '../../../db/runs/runs.ts';
import type { Continuation } from '../../../db/tables/run-input.ts';
import { createTimedId } from '../../../db/timed-id.ts';
import { DRAFT_VERSION, type Json, type Step } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import type { BlockOverrides } from '../../../flow/overrides.ts';
import { listBlocks, toPlan } from '../../../flow/plan.ts';
import type { AcceptDeps } from '../../deps.ts';
import { invalidField } from '../../http/request-errors.ts';
import { reserveBytes } from '../../http/reserve-bytes.ts';
import { countCommonSteps, type Repetition } from '../run-shapes/repetitions.ts';
import { acceptAttachments } from './accept-run.ts';
import type { CallRequest } from './call-request.ts';
import { readCallback } from './callback.ts';
import { requireMayRun, requireValidOverrides } from './check-request.ts';
import {
  countCompletedSteps,
  findCalls,
  forkCursor,
  listOutputsRead,
  measureCollected,
  tooLarge,
} from './collect-outputs.ts';
import { limitLookUps } from './limit-look-ups.ts';
import { MODEL_KEY_HEADER } from './read-model-keys.ts';
import { type AcceptedCall, storeCall } from './store-call.ts';

type RepeatedRun = Pick<
  RunRow,
  'execution_id' | 'first_attempt' | 'version' | 'flow_version_id' | 'status' | 'mode'
>;

/**
 * Checks a repetition and stores the new run, a job with the same input in the version of the request's flow. With
 * `once`, rejects a run of which there is a newer attempt. Returns undefined when another request has taken the
 * Idempotency-Key meanwhile.
 */
export async function acceptRepeat(
  deps: AcceptDeps,
  request: CallRequest<unknown>,
  run: RepeatedRun,
  how: Repetition,
  { once = false, bulkId }: { once?: boolean; bulkId?: string | undefined } = {},
): Promise<AcceptedCall | undefined> {
  requireRepeatable(run, how);
  const { flow } = request;
  const { definition, organizationId } = flow;
  const executionId = run.execution_id;
  const asked = await getRequestOfRun(deps.db, executionId);
  requireModelKeys(asked.modelKeyProviders ?? [], Object.keys(request.modelKeys ?? {}));
  const { steps } = definition;
  const before = how === 'retry' ? (await deps.definitions.get(run.flow_version_id)).steps : [];
  // Only the outputs of steps that are the same in both versions can be reused.
  const common = countCommonSteps(before, steps);
  const plan = toPlan(steps.slice(0, common));
  const calls = await findCalls(deps.db, executionId, plan);
  const bytes = asked.bytes + (await measureCollected(deps.db, calls));
  using _permit = await reserveBytes(deps.gates.answers, organizationId, bytes, request.gone);
  const { continuation: earlier, reuses: reused = [], ...input } = await getRunInput(deps.db, executionId);
  if (input.tools) throw needsCaller();
  const overrides = input.block_overrides;
  const { version } = flow;
  await requireValidOverrides(
    deps.validator.of(organizationId),
    deps.registry,
    definition,
    'block_overrides',
    overrides,
  ).catch((error) => {
    throw version !== run.version && error instanceof ServiceError && error.code === 'VALIDATION_ERROR'
      ? unfitOverrides(version, error.message)
      : error;
  });
  const forHosts = limitLookUps(deps, organizationId);
  const images = await acceptAttachments(forHosts, definition, overrides, input.attachments);
  const callback = await readCallback(forHosts, {
    callbackUrl: asked.callbackUrl ?? undefined,
    callbackEvents: asked.callbackEvents ?? undefined,
  });
  // The first top-level step that the run has not completed.
  const completed = await countCompletedSteps(deps.db, calls, plan);
  const from = Math.max(0, Math.min(completed, steps.length - 1));
  const continuation = from > 0 ? await continueFrom(deps, run, steps, overrides, from) : undefined;
  // The step has the same input as before, so its completed blocks, such as the items of a loop, are not run again.
  const attempts = calls.calls.map(({ callId }) => callId);
  if (from === (earlier?.from ?? 0)) attempts.push(...reused);
  const blockIds = listBlocks({ steps: steps.slice(from, common).slice(0, 1) }).map(({ step_id }) => step_id);
  const reuses = blockIds.length > 0 ? await listReusedCalls(deps.db, attempts, blockIds) : [];
  requireMayRun(flow);
  return await storeCall(deps, request, {
    ...flow,
    callId: createTimedId(),
    mode: 'jobs',
    input: {
      ...input,
      ...images,
      ...(continuation && { continuation }),
      ...(reuses.length > 0 && { reuses }),
    },
    callback,
    repeats: { executionId, first: run.first_attempt ?? executionId, from, once, bulkId },
  });
}

/**
 * Takes the outputs of earlier steps from the run. Throws BODY_TOO_LARGE unless all outputs that later steps may read
 * fit.
 */
async function continueFrom(
  deps: AcceptDeps,
  run: RepeatedRun,
  steps: Step[],
  overrides: BlockOverrides,
  from: number,
): Promise<Continuation> {
  // The memory is reserved already.
  const { accumulatedOutputs: outputs } = await forkCursor(
    deps,
    run,
    steps,
    from,
    async () => undefined,
    // No caller sends them.
    Buffer.byteLength,
  );
  const absent = listOutputsRead(steps, overrides, from).find((stepId) => !Object.hasOwn(outputs, stepId));
  if (absent !== undefined) throw tooLarge(absent);
  const previous = steps[from - 1]?.step_id ?? '';
  return { input: outputs[previous] as Json, from, outputs };
}

/** Throws INVALID_VERSION or CONFLICT for a run that cannot be repeated this way. */
export function requireRepeatable(
  { version, mode, status }: Pick<RepeatedRun, 'version' | 'mode' | 'status'>,
  how: Repetition,
): void {
  if (version === DRAFT_VERSION)
    throw new ServiceError(
      'INVALID_VERSION',
      'This is a run of a draft: run the draft (…/draft/runs) or the test case again instead.',
    );
  if (mode === 'step')
    throw new ServiceError(
      'CONFLICT',
      'Continue a session with …/step, also after a failure; fork it with …/fork.',
    );
  const instead =
    status === 'tool_calls_required'
      ? 'send the results of its tool calls with …/execute'
      : '…/rerun runs it again from its beginning';
  if (how === 'retry' && status !== 'failed')
    throw new ServiceError(
      'CONFLICT',
      `Only a failed run can be retried, and this one is ${status}; ${instead}.`,
    );
}

/** The error for a run whose overrides another version cannot take. */
function unfitOverrides(version: number, problems: string): ServiceError {
  const message = `version ${version} cannot take the overrides of this run; name another version, or start a new run without these overrides: ${problems}`;
  return invalidField('version', message);
}

export function needsCaller(): ServiceError {
  return new ServiceError(
    'CONFLICT',
    'This run was started with tools, whose results nobody would send to a job: run the flow again with …/execute. A resume that failed may be sent again as it was.',
  );
}

/**
 * Throws VALIDATION_ERROR unless there is a key for each provider: the organization does not pay for calls that used
 * the caller's keys.
 */
export function requireModelKeys(needed: string[], sent: string[]): void {
  const absent = needed.filter((provider) => !sent.includes(provider));
  if (absent.length === 0) return;
  const message = `must hold a key for ${absent.join(', ')}, as the request for this run did: such keys are kept only until their call ends`;
  throw invalidField(MODEL_KEY_HEADER, message);
}
