// Accepts one call of a session: makes every check before the first byte of the stream.
import type { RunRow } from '../../../db/runs/runs.ts';
import type { Continuation } from '../../../db/tables/run-input.ts';
import { createTimedId } from '../../../db/timed-id.ts';
import type { FlowDefinition, Json } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import type { BlockOverrides } from '../../../flow/overrides.ts';
import { noResultsExpected, requireMatchingResults, type ToolCallMessage } from '../../../flow/tool-calls.ts';
import type { ApiDeps } from '../../deps.ts';
import { codeReaderOf } from '../../flows/read-code-of.ts';
import { invalidField } from '../../http/request-errors.ts';
import { reserveBytes } from '../../http/reserve-bytes.ts';
import type { StepRequest } from '../run-shapes/step-requests.ts';
import { requireStateAgain } from './accept-resume.ts';
import { acceptAttachments, requireParameterNames } from './accept-run.ts';
import type { CallRequest } from './call-request.ts';
import {
  requireImageSupport,
  requireMayRun,
  requireTools,
  requireValidOverrides,
  requireValidPins,
} from './check-request.ts';
import { requireIterations, requireReadOutputs, requireSameStart } from './check-resume.ts';
import { deriveCallId, findEarlierResume, firstCallOf, type NewResume } from './find-earlier-resume.ts';
import { limitLookUps } from './limit-look-ups.ts';
import { requireSoundTree } from './load-flow.ts';
import { requireFreshPause, requireStepIndex, staleTree } from './require-fresh-tree.ts';
import { requireState } from './resume-state.ts';
import { getSession, measureSession, ofSteps, readInput, readOutputs } from './session.ts';
import { type AcceptedCall, type CallToStore, storeCall } from './store-call.ts';

type Outputs = { [stepId: string]: Json };

type CheckedCall = {
  session: RunRow | undefined;
  /** The id of the call, if it is a resume, and the call it continues. */
  resumes: Pick<NewResume, 'callId' | 'goesOn'> | undefined;
  overrides: BlockOverrides;
  pins: ReturnType<typeof requireValidPins>;
  tools: Awaited<ReturnType<typeof requireTools>>;
  /** The end (exclusive) of the steps to run. */
  to: number;
  /** Whether the flow was published again since the session began. */
  republished: boolean;
};

/**
 * Stores one call of a session, and with the first call the session. A repeated tool resume returns the earlier call.
 * Returns undefined when another request has taken its Idempotency-Key meanwhile.
 */
export async function acceptStep(
  deps: ApiDeps,
  request: CallRequest<StepRequest>,
): Promise<AcceptedCall | undefined> {
  const { flow, body } = request;
  const { definition } = flow;
  const { steps } = definition;
  const { stepIndex, runRemaining = false } = body;
  await request.requireRunnable?.();
  const session = body.executionId == null ? undefined : await getSession(deps, flow, body.executionId);
  const republished = session !== undefined && session.flow_version_id !== flow.flowVersionId;
  requireStepIndex(definition, body, republished);
  const messages = body.toolCallMessages as ToolCallMessage[] | undefined;
  const overrides = (body.blockOverrides ?? {}) as BlockOverrides;
  const to = runRemaining ? steps.length : stepIndex + 1;
  const validator = deps.validator.of(flow.organizationId);
  const tools = await requireTools(
    { ...deps, validator },
    definition,
    overrides,
    body,
    steps.slice(stepIndex, to),
  );
  requireSoundTree(definition);
  await requireValidOverrides(validator, deps.registry, definition, 'blockOverrides', overrides);
  requireParameterNames(body.parameters ?? {});
  const pins = requireValidPins(definition, 'pinnedOutputs', body.pinnedOutputs);

  const resumeId = session && messages && idOfResume(request, session);
  if (resumeId)
    await requireStateAgain(deps, resumeId, {
      executionId: session.execution_id,
      messages,
      outputs: (accepted) => outputsOfPause(accepted, body),
      resumeState: body.resumeState,
    });
  const resumes = session && resumeId ? await findEarlierResume(deps, session, resumeId) : undefined;
  if (resumes?.accepted) return resumes.accepted;

  const known = resumes?.run ?? session;
  if (messages && !known)
    throw new ServiceError('INVALID_RESUME', 'A resume needs the executionId of the session.');
  if (messages && !known?.pause) throw noResultsExpected(messages);
  const checked = { session: known, resumes, overrides, pins, tools, to, republished };
  const bytes = known ? await measureSession(deps, known, body) : 0;
  using _permit = await reserveBytes(deps.gates.answers, flow.organizationId, bytes, request.gone);
  return await acceptChecked(deps, request, checked);
}

/** Accepts a call whose request is valid: loads the session's data and stores the call. */
async function acceptChecked(
  deps: ApiDeps,
  request: CallRequest<StepRequest>,
  { session, resumes, overrides, pins, tools, to, republished }: CheckedCall,
): Promise<AcceptedCall | undefined> {
  const { flow, body } = request;
  const { definition } = flow;
  const { steps } = definition;
  const { stepIndex, maxCredits } = body;
  const messages = body.toolCallMessages as ToolCallMessage[] | undefined;
  const outputs = ofSteps(definition, await readOutputs(deps, session, request));
  const replaced = body.inputOverrides as Outputs | undefined;
  const continuation: Continuation = {
    ...pipelineInput(definition, body, outputs, republished),
    from: stepIndex,
    outputs: outputs ?? {},
    ...(replaced && { replaced }),
  };
  const pausedAt = messages && steps[stepIndex]?.step_id;
  const range = { from: stepIndex, to, pausedAt };
  const readCode = codeReaderOf(deps, flow.organizationId);
  await requireReadOutputs(readCode, definition, overrides, range, { ...outputs, ...replaced });
  const forHosts = limitLookUps(deps, flow.organizationId);
  const images = session ? {} : await acceptAttachments(forHosts, definition, overrides, body.attachments);
  const kept = await readInput(deps, session, body);
  if (session) requireSameStart(kept, body);
  const inherited = { ...kept, block_overrides: overrides, ...pins, ...images, ...tools };
  const input = { ...inherited, ...(maxCredits !== undefined && { max_credits: maxCredits }) };
  // The images of the session: this call may send them to another model.
  requireImageSupport(deps.registry, {
    definition: { steps: steps.slice(stepIndex, to) },
    overrides,
    attachments: kept.attachments ?? [],
  });
  const run = { mode: 'step' as const, ...flow };
  const concludes = to === steps.length;
  if (!session) {
    requireMayRun(flow);
    const executionId = createTimedId();
    const continues = { executionId, from: stepIndex, to, concludes };
    const first = { ...run, callId: firstCallOf(executionId), continues };
    return storeCall(
      deps,
      request,
      { ...first, input: { ...input, continuation } },
      { callId: executionId, input },
    );
  }

  const executionId = session.execution_id;
  const continues = { executionId, from: stepIndex, to, concludes };
  if (resumes)
    return resume(deps, request, session.pause, republished, {
      ...run,
      callId: resumes.callId,
      continues: { ...continues, ...resumes.goesOn },
      input: { ...input, continuation },
    });
  requireMayRun(flow);
  return storeCall(deps, request, {
    ...run,
    callId: createTimedId(),
    continues: stepIndex === 0 ? { ...continues, sessionInput: inherited } : continues,
    input: { ...input, continuation },
  });
}

/** Stores the call that runs the paused step again, with tool results. */
async function resume(
  deps: ApiDeps,
  request: CallRequest<StepRequest>,
  pause: RunRow['pause'],
  republished: boolean,
  run: CallToStore & { continues: NonNullable<CallToStore['continues']> },
): Promise<AcceptedCall | undefined> {
  const { flow, body } = request;
  const messages = body.toolCallMessages as ToolCallMessage[];
  const { definition, input, continues } = run;
  const { from, executionId } = continues;
  const step_id = definition.steps[from]?.step_id ?? '';
  if (pause) requireFreshPause(definition, pause, from, republished);
  if (pause?.step_id !== step_id) throw noResultsExpected(messages);
  requireMatchingResults(messages, pause.tool_call_ids);
  if (body.resumeState !== undefined)
    await requireState(deps.config.apiKeyPepper, body.resumeState, {
      executionId,
      // The flow may have a newer version since the pause.
      flowVersionId: undefined,
      step_id,
      iterations: pause.iterations,
      messages,
      outputs: outputsOfPause(definition, body),
    });
  const { block_overrides: overrides } = input;
  const answered = { executionId, ...pause };
  const iterations = requireIterations(definition, overrides, answered, messages, body.iterationsUsed);
  requireMayRun(flow);
  const continuation = {
    ...(input.continuation as Continuation),
    resume: { step_id, iterations, model: pause.model, messages },
  };
  return storeCall(deps, request, { ...run, input: { ...input, continuation } });
}

/**
 * Returns the outputs of a resume as sent, and without those of blocks inside steps. Both are candidates for the
 * pause's token: a client may have added such outputs, and a step may have moved inside another one in the newer
 * version.
 */
function outputsOfPause(
  definition: FlowDefinition,
  { accumulatedOutputs }: StepRequest,
): Outputs[] | undefined {
  const sent = accumulatedOutputs as Outputs | undefined;
  return sent && [sent, ofSteps(definition, sent) ?? {}];
}

/** Derives the id of a resume from its version and its meaningful fields. */
function idOfResume({ environment, body }: CallRequest<StepRequest>, session: RunRow): string {
  const { iterationsUsed, resumeState, message, parameters, attachments, ...read } = body;
  const { callbackUrl, callbackEvents, ...asked } = read;
  return deriveCallId(session.execution_id, [environment, asked]);
}

/** Returns the input of the step: the output of the previous step, unless the request overrides it. */
function pipelineInput(
  definition: FlowDefinition,
  { stepIndex, inputOverrides }: StepRequest,
  outputs: Outputs | undefined,
  republished: boolean,
): { input?: Json } {
  const previous = definition.steps[stepIndex - 1]?.step_id;
  if (previous === undefined) return {};
  if (!outputs)
    throw invalidField(
      'accumulatedOutputs',
      'is required after step 0: the outputs of the earlier steps, by step_id',
    );
  const merged = { ...outputs, ...inputOverrides } as Outputs;
  if (Object.hasOwn(merged, previous)) return { input: merged[previous] as Json };
  if (republished)
    throw staleTree(
      definition,
      `accumulatedOutputs has no output of the step ${JSON.stringify(previous)}. The flow was published again since the session began: if the step is new, start a new session (its steps are in detail.steps); otherwise send its output.`,
    );
  throw invalidField(`accumulatedOutputs.${previous}`, 'is required: the output of the step before this one');
}
