// One call of a step-through session: everything it can be refused for, before the first byte (spec: /step errors).
import { randomUUID } from 'node:crypto';
import { findRun, getRunInput, type RunRow, updateSessionInput } from '../db/runs.ts';
import type { Continuation, StoredRunInput } from '../db/schema.ts';
import { throughOutage } from '../db/through-outage.ts';
import { checkTree } from '../flow/check-tree.ts';
import type { FlowDefinition, Json } from '../flow/definition.ts';
import { ServiceError } from '../flow/errors.ts';
import type { BlockOverrides } from '../flow/overrides.ts';
import { eachStep } from '../flow/step-path.ts';
import { requireMatchingResults, type ToolCallMessage } from '../flow/tool-calls.ts';
import { findAcceptedRun } from './accept-once.ts';
import { requireIterations, withoutResults } from './accept-resume.ts';
import {
  type AcceptedRun,
  acceptAttachments,
  missing,
  type RunToStore,
  requireCredits,
  requireParameterNames,
  storeRun,
} from './accept-run.ts';
import { requireValidOverrides } from './check-overrides.ts';
import type { ApiContext, ApiDeps } from './context.ts';
import { deriveId } from './derive-id.ts';
import { UUID } from './load-run.ts';
import { requireTools } from './require-tools.ts';
import { digestOf, requireState } from './resume-state.ts';
import type { StepRequest } from './step-requests.ts';

/** Of the call that opens a session: says so whenever it is asked. */
export function firstCallOf(sessionId: string): string {
  return deriveId(sessionId, 'first call');
}

/**
 * Stores one call of a session, and on the first one the session. A tool resume that is sent again answers the call that
 * was accepted before. Undefined when another request has taken its Idempotency-Key meanwhile.
 */
export async function acceptStep(deps: ApiDeps, ctx: ApiContext): Promise<AcceptedRun | undefined> {
  const { flow } = ctx.state;
  const { definition } = flow;
  const body = ctx.state.body as StepRequest;
  const { steps } = definition;
  const { stepIndex, runRemaining = false } = body;
  if (steps.length === 0)
    throw new ServiceError(
      'NO_STEPS',
      'The flow has no steps: it passes its message through, see …/execute.',
    );
  requireFreshTree(definition, body);
  if (stepIndex < 0 || stepIndex >= steps.length)
    throw new ServiceError('INVALID_STEP_INDEX', `stepIndex is from 0 to ${steps.length - 1} in this flow.`);
  const messages = body.toolCallMessages as ToolCallMessage[] | undefined;
  if (stepIndex === 0 && body.message === undefined && !messages)
    throw new ServiceError('MISSING_MESSAGE', 'The step with index 0 needs a message.');
  const overrides = (body.blockOverrides ?? {}) as BlockOverrides;
  const to = runRemaining ? steps.length : stepIndex + 1;
  const tools = requireTools(deps, definition, overrides, body, steps.slice(stepIndex, to));
  requireSoundTree(definition);
  await requireValidOverrides(deps, definition, 'blockOverrides', overrides);
  requireParameterNames(body.parameters ?? {});
  const session = body.executionId == null ? undefined : await findSession(deps, ctx, body.executionId);

  const outputs = (body.accumulatedOutputs ?? {}) as { [stepId: string]: Json };
  const continuation: Continuation = { ...pipelineInput(definition, body, messages !== undefined), outputs };
  const images = session ? {} : await acceptAttachments(deps, ctx, overrides, body.attachments);
  const input = {
    ...(await inputOf(deps, body, session)),
    block_overrides: overrides,
    ...images,
    ...tools,
  };
  const run = { mode: 'step' as const, ...flow };
  const concludes = to === steps.length;
  if (!session) {
    if (messages) throw new ServiceError('INVALID_RESUME', 'To resume, send the executionId of the session.');
    requireCredits(flow);
    const executionId = randomUUID();
    const continues = { executionId, from: stepIndex, to, concludes };
    const first = { ...run, executionId: firstCallOf(executionId), continues };
    return storeRun(deps, ctx, { ...first, input: { ...input, continuation } }, { executionId, input });
  }

  const executionId = session.execution_id;
  const continues = { executionId, from: stepIndex, to, concludes };
  if (messages)
    return resume(deps, ctx, session, { ...run, executionId, continues, input: { ...input, continuation } });
  requireCredits(flow);
  if (stepIndex === 0) await throughOutage(() => updateSessionInput(deps.db, executionId, input));
  return storeRun(deps, ctx, {
    ...run,
    executionId: randomUUID(),
    continues,
    input: { ...input, continuation },
  });
}

/** The paused step again, with tool results. */
async function resume(
  deps: ApiDeps,
  ctx: ApiContext,
  session: RunRow,
  run: RunToStore & { continues: NonNullable<RunToStore['continues']> },
): Promise<AcceptedRun | undefined> {
  const body = ctx.state.body as StepRequest;
  const messages = body.toolCallMessages as ToolCallMessage[];
  const { definition, input, continues } = run;
  const { from, to, executionId } = continues;
  const step_id = definition.steps[from]?.step_id ?? '';
  const executionIdOfCall = deriveId(executionId, [
    ctx.state.principal.environment,
    from,
    to,
    messages,
    input,
  ]);
  const accepted = await findAcceptedRun(deps, executionIdOfCall);
  if (accepted) {
    ctx.set('Idempotent-Replayed', 'true');
    return accepted;
  }
  const pause = session.pause?.step_id === step_id ? session.pause : undefined;
  requireMatchingResults(messages, pause?.tool_call_ids ?? []);
  if (!pause) throw new ServiceError('TOOL_RESULTS_MISMATCH', 'The session does not wait for tool results.');
  if (body.resumeState !== undefined)
    requireState(deps.config.apiKeyPepper, body.resumeState, {
      executionId,
      flowVersionId: run.flowVersionId,
      step_id,
      iterations: pause.iterations,
      messages: digestOf(withoutResults(messages)),
      outputs: digestOf(input.continuation?.outputs),
    });
  const { block_overrides: overrides } = input;
  const iterations = requireIterations(definition, overrides, pause, messages, body.iterationsUsed);
  requireCredits(ctx.state.flow);
  const continuation = {
    ...(input.continuation as Continuation),
    resume: { step_id, iterations, messages },
  };
  return storeRun(deps, ctx, { ...run, executionId: executionIdOfCall, input: { ...input, continuation } });
}

/** Throws STALE_TREE with the plan as it is now. */
function requireFreshTree(definition: FlowDefinition, body: StepRequest): void {
  const known = new Set([...eachStep(definition)].map(({ step }) => step.step_id));
  const sent = {
    ...body.accumulatedOutputs,
    ...(body.stepIndex !== 0 && body.inputOverrides),
  };
  const stale = Object.keys(sent).find((stepId) => !known.has(stepId));
  if (stale === undefined) return;
  throw new ServiceError(
    'STALE_TREE',
    `The flow has no step ${JSON.stringify(stale.slice(0, 100))}: it was published anew. Start a new session with detail.steps.`,
    { steps: describePlan(definition) },
  );
}

/** The step plan as callers read it. */
export function describePlan({ steps }: FlowDefinition) {
  return steps.map(({ step_id, name, type }, index) => ({ index, step_id, name, type }));
}

function requireSoundTree(definition: FlowDefinition): void {
  const problems = checkTree(definition);
  if (problems.length === 0) return;
  const text = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new ServiceError('INVALID_TREE', `The published flow can't be stepped through: ${text}`, {
    problems,
  });
}

/** What the step gets: the output of the one before, with overrides on top, as in /execute. */
function pipelineInput(
  { steps }: FlowDefinition,
  { stepIndex, accumulatedOutputs, inputOverrides }: StepRequest,
  resumes: boolean,
): { input?: Json } {
  const previous = steps[stepIndex - 1];
  if (!previous) return {};
  if (!accumulatedOutputs) throw missing('accumulatedOutputs');
  const merged = { ...accumulatedOutputs, ...inputOverrides };
  if (!Object.hasOwn(merged, previous.step_id) && !resumes)
    throw missing(`accumulatedOutputs.${previous.step_id}`);
  return { input: merged[previous.step_id] ?? null };
}

/** Message and parameters: those of the session, unless this call begins it, or begins anew. */
async function inputOf(
  { db }: ApiDeps,
  body: StepRequest,
  session: RunRow | undefined,
): Promise<Omit<StoredRunInput, 'block_overrides'>> {
  const { stepIndex, message, parameters = {}, maxCredits } = body;
  if (!session)
    return {
      message: message ?? '',
      parameters: parameters as { [key: string]: Json },
      ...(maxCredits !== undefined && { max_credits: maxCredits }),
    };
  const { block_overrides, tools, tool_choice, ...kept } = await throughOutage(() =>
    getRunInput(db, session.execution_id),
  );
  return stepIndex === 0 && message !== undefined && body.toolCallMessages === undefined
    ? { ...kept, message }
    : kept;
}

/** Throws RUN_NOT_FOUND, or CONFLICT for a session that was cancelled. */
async function findSession({ db }: ApiDeps, ctx: ApiContext, executionId: string): Promise<RunRow> {
  const run = UUID.test(executionId)
    ? await throughOutage(() => findRun(db, ctx.state.flow.flowId, executionId))
    : undefined;
  if (run?.mode !== 'step')
    throw new ServiceError('RUN_NOT_FOUND', 'This flow has no step-through session with that executionId.');
  if (run.cancel_requested_at)
    throw new ServiceError('CONFLICT', 'The session was cancelled: begin a new one, or fork it.');
  return run;
}
