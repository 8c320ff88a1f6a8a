// Accepts a tool resume of /execute (docs/tool-calls.md): checks it in a fixed order, then stores the call.
import { findRun, findRunInput, type RunRow } from '../../../db/runs/runs.ts';
import { measureInput } from '../../../db/stored-values/stored-inputs.ts';
import type { StoredRunInput } from '../../../db/tables/run-input.ts';
import type { FlowDefinition, Json } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { UUID_PATTERN } from '../../../flow/limits.ts';
import type { BlockOverrides } from '../../../flow/overrides.ts';
import {
  listToolSteps,
  notPaused,
  type PausePoint,
  requireMatchingResults,
  requireToolSteps,
  type ToolCallMessage,
} from '../../../flow/tool-calls.ts';
import { linkToTrace } from '../../../platform/observability/tracing.ts';
import type { ApiDeps } from '../../deps.ts';
import { codeReaderOf } from '../../flows/read-code-of.ts';
import { reserveBytes } from '../../http/reserve-bytes.ts';
import type { ExecuteRequest } from '../run-shapes/requests.ts';
import { requireChoice } from '../run-shapes/tool-requests.ts';
import { findAcceptedCall } from './accept-idempotently.ts';
import { requireParameterNames } from './accept-run.ts';
import type { CallRequest } from './call-request.ts';
import { requireImageSupport, requireMayRun, requireTools, requireValidOverrides } from './check-request.ts';
import { requireIterations, requireReadOutputs, requireSameStart } from './check-resume.ts';
import { deriveCallId, findEarlierResume } from './find-earlier-resume.ts';
import { requireState } from './resume-state.ts';
import { isOfSameKind } from './session.ts';
import { type AcceptedCall, storeCall } from './store-call.ts';

/**
 * Stores the call that resumes a paused run. A repeated resume returns the earlier call, unless that call failed for
 * a temporary reason. Returns undefined when another request has stored the resume or taken its Idempotency-Key
 * meanwhile.
 */
export async function acceptResume(
  deps: ApiDeps,
  request: CallRequest<ExecuteRequest>,
): Promise<AcceptedCall | undefined> {
  const { flow, body } = request;
  const { executionId = '', pausedAtStep = '' } = body;
  const run = await findPaused(deps, request, executionId);
  const definition = run ? await deps.definitions.get(run.flow_version_id) : flow.definition;
  const validator = deps.validator.of(flow.organizationId);
  const requireOverrides = (overrides: BlockOverrides) =>
    requireValidOverrides(validator, deps.registry, definition, 'block_overrides', overrides);
  const sent = body.block_overrides as BlockOverrides | undefined;
  if (sent) await requireOverrides(sent);
  requireChoice(body);
  requireParameterNames(body.parameters ?? {});
  // Without a block that takes tools, no tool is valid.
  if (body.tools?.length && listToolSteps(definition).length === 0) requireToolSteps(definition);
  requireToolStep(definition, pausedAtStep);
  if (!run) throw notPaused();
  // A run that was resumed before may have accepted this resume.
  const answered = run.concluded_by === null ? await requireAnswerOfPause(deps, request, run) : undefined;

  const bytes = await measureInput(deps.db, run.execution_id);
  using _permit = await reserveBytes(deps.gates.answers, flow.organizationId, bytes, request.gone);
  const earlier = await findRunInput(deps.db, run.execution_id);
  if (!earlier) throw notPaused();
  requireSameStart(earlier, body);
  const overrides = sent ?? earlier.block_overrides;
  if (!sent) await requireOverrides(overrides);
  return await acceptAtPause(deps, request, { run, answered, definition, earlier, overrides });
}

type ResumedRun = {
  run: RunRow;
  /** The pause, when the resume is known to answer it. */
  answered: PausePoint | undefined;
  definition: FlowDefinition;
  /** The input of the run's first call. */
  earlier: StoredRunInput;
  overrides: BlockOverrides;
};

/** Accepts a resume of a paused run whose stored input was loaded. */
async function acceptAtPause(
  deps: ApiDeps,
  request: CallRequest<ExecuteRequest>,
  { run, answered, definition, earlier, overrides }: ResumedRun,
): Promise<AcceptedCall | undefined> {
  const { flow, body } = request;
  const { executionId = '', pausedAtStep = '', accumulatedOutputs = {} } = body;
  const messages = body.toolCallMessages as ToolCallMessage[];
  const outputs = accumulatedOutputs as { [stepId: string]: Json };
  const { tools: sent, toolChoice, maxCredits } = body;
  const asked = [pausedAtStep, messages, outputs, overrides, sent, toolChoice, maxCredits];
  const callId = deriveCallId(executionId, [request.environment, ...asked]);
  await requireStateAgain(deps, callId, {
    executionId,
    messages,
    resumeState: body.resumeState,
    outputs: () => [outputs],
  });
  const resume = await findEarlierResume(deps, run, callId);
  if (resume.accepted) return resume.accepted;

  const pause = { executionId, ...(answered ?? (await requireAnswerOfPause(deps, request, resume.run))) };
  const iterations = requireIterations(definition, overrides, pause, messages, body.iterationsUsed);
  const from = definition.steps.findIndex(({ step_id }) => step_id === pausedAtStep);
  const rest = { steps: definition.steps.slice(from) };
  const validator = deps.validator.of(flow.organizationId);
  const tools = await requireTools({ ...deps, validator }, definition, overrides, body, rest.steps);
  requireImageSupport(deps.registry, {
    definition: rest,
    overrides,
    attachments: earlier.attachments ?? [],
  });
  const to = definition.steps.length;
  const readCode = codeReaderOf(deps, flow.organizationId);
  await requireReadOutputs(readCode, definition, overrides, { from, to, pausedAt: pausedAtStep }, outputs);
  requireMayRun(flow);

  const previous = definition.steps[from - 1];
  // Tools apply only to the call they are sent with.
  const { tools: _, tool_choice, ...kept } = earlier;
  const input = {
    ...kept,
    block_overrides: overrides,
    ...tools,
    ...(maxCredits !== undefined && { max_credits: maxCredits }),
    continuation: {
      ...(previous && { input: outputs[previous.step_id] ?? null }),
      from,
      outputs,
      resume: { step_id: pausedAtStep, iterations, model: pause.model, messages },
    },
  };
  const { flow_version_id: flowVersionId, version } = run;
  const continues = { executionId, from, to, concludes: true, ...resume.goesOn };
  const { mode } = run;
  const stored = { callId: resume.callId, mode, input, continues, flowVersionId, version, definition };
  return storeCall(deps, request, stored);
}

/**
 * Returns the pause of a run, or throws when the resume does not answer it. Does not read the run's input, which may
 * be large.
 */
async function requireAnswerOfPause(
  deps: ApiDeps,
  { body }: CallRequest<ExecuteRequest>,
  run: RunRow,
): Promise<PausePoint> {
  const { pause, flow_version_id: flowVersionId } = run;
  const { executionId = '', pausedAtStep, resumeState, accumulatedOutputs: outputs = {} } = body;
  const messages = body.toolCallMessages as ToolCallMessage[];
  if (!pause || pause.step_id !== pausedAtStep) throw notPaused(run);
  requireMatchingResults(messages, pause.tool_call_ids);
  if (resumeState !== undefined)
    await requireState(deps.config.apiKeyPepper, resumeState, {
      executionId,
      flowVersionId,
      step_id: pausedAtStep,
      iterations: pause.iterations,
      messages,
      outputs: [outputs],
    });
  return pause;
}

/**
 * Throws INVALID_RESUME for a repeated resume whose token this service did not sign for it. `outputs` may have
 * several candidates, made with the version of that time; one match is enough, and undefined is not compared. The
 * version of a session is not compared either: a session continues with the version that its path names.
 */
export async function requireStateAgain(
  deps: ApiDeps,
  callId: string,
  resume: {
    executionId: string;
    messages: ToolCallMessage[];
    outputs: (accepted: FlowDefinition) => { [stepId: string]: Json }[] | undefined;
    resumeState?: string | undefined;
  },
): Promise<void> {
  const { executionId, messages, resumeState } = resume;
  if (resumeState === undefined) return;
  const accepted = await findAcceptedCall(deps, callId);
  if (!accepted) return;
  const { mode, flowVersionId, definition, from } = accepted;
  const outputs = resume.outputs(definition);
  await requireState(
    deps.config.apiKeyPepper,
    resumeState,
    {
      executionId,
      step_id: definition.steps[from ?? 0]?.step_id ?? '',
      iterations: undefined,
      messages,
      flowVersionId: mode === 'step' ? undefined : flowVersionId,
      outputs,
    },
    { isRepeated: true },
  );
}

/** Throws PAUSED_STEP_INVALID unless the step is a block that can pause for tools. */
export function requireToolStep(definition: FlowDefinition, stepId: string): void {
  const valid = listToolSteps(definition);
  if (!valid.includes(stepId))
    throw new ServiceError(
      'PAUSED_STEP_INVALID',
      'pausedAtStep must be a block of this flow that calls tools: send back what the pause answered.',
      { valid_steps: valid },
    );
}

/** Finds the run that the caller names, if /execute started it with the path's draft, version, or any version. */
async function findPaused(
  { db }: ApiDeps,
  { flow, pinned }: CallRequest<ExecuteRequest>,
  executionId: string,
): Promise<RunRow | undefined> {
  const { flowId, version } = flow;
  const run = UUID_PATTERN.test(executionId) ? await findRun(db, flowId, executionId) : undefined;
  if (run?.mode !== 'execute' || !isOfSameKind(run, flow)) return undefined;
  linkToTrace(run.trace_context);
  return !pinned || run.version === version ? run : undefined;
}
