// Checks the steps of a session and of a /step call against the tree of the flow.
import type { FlowDefinition } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { eachStep } from '../../../flow/step-path.ts';
import { listToolSteps, type PausePoint } from '../../../flow/tool-calls.ts';
import type { StepRequest } from '../run-shapes/step-requests.ts';

/** Returns the step plan for callers. */
export function describePlan({ steps }: FlowDefinition) {
  return steps.map(({ step_id, name, type }, index) => ({ index, step_id, name, type }));
}

/**
 * Throws STALE_TREE when a request names a step that the flow no longer has: by its output or, in a session, by its
 * overrides.
 */
function requireFreshTree(definition: FlowDefinition, body: StepRequest): void {
  const known = new Set([...eachStep(definition)].map(({ step }) => step.step_id));
  const sent = [
    body.accumulatedOutputs,
    body.stepIndex === 0 ? undefined : body.inputOverrides,
    body.executionId == null ? undefined : body.blockOverrides,
  ];
  const stale = sent.flatMap((outputs) => Object.keys(outputs ?? {})).find((stepId) => !known.has(stepId));
  if (stale !== undefined)
    throw staleTree(
      definition,
      `This version of the flow has no step ${JSON.stringify(stale.slice(0, 100))}. If the flow was published again, start a new session (its steps are in detail.steps); otherwise correct the name.`,
    );
}

/** Makes the 400 with the current plan. */
export function staleTree(definition: FlowDefinition, message: string): ServiceError {
  return new ServiceError('STALE_TREE', message, { steps: describePlan(definition) });
}

/**
 * Throws STALE_TREE for a pause whose step was removed, takes no tool results in this version, or has another index
 * than `index` after the flow was published again.
 */
export function requireFreshPause(
  definition: FlowDefinition,
  { step_id: stepId }: PausePoint,
  index: number,
  republished: boolean,
): void {
  const now = definition.steps.findIndex(({ step_id }) => step_id === stepId);
  const takesResults = listToolSteps(definition).includes(stepId);
  if (takesResults && (now === index || !republished)) return;
  const change = takesResults
    ? `another step with the index ${index}. There, it has the index ${now}: send that, and the outputs of all steps before it`
    : now < 0
      ? 'no such step of its own: start a new session'
      : 'a step of that name which takes no tool results: start a new session, or leave out toolCallMessages to run that step';
  throw staleTree(
    definition,
    `The session waits for tool results of the step ${JSON.stringify(stepId)}, and its flow was changed since: this version has ${change} (the steps are in detail.steps).`,
  );
}

/**
 * Throws NO_STEPS, STALE_TREE, INVALID_STEP_INDEX or MISSING_MESSAGE when the request does not name a step to run.
 * `republished`: the flow was published again since the session began.
 */
export function requireStepIndex(definition: FlowDefinition, body: StepRequest, republished: boolean): void {
  const { steps } = definition;
  const { stepIndex, message, toolCallMessages } = body;
  if (steps.length === 0)
    throw new ServiceError('NO_STEPS', 'The flow has no steps, so there is none to run: use …/execute.');
  requireFreshTree(definition, body);
  if (stepIndex >= steps.length && republished)
    throw staleTree(
      definition,
      `The flow was published again since the session began, and has only ${steps.length} steps now: start a new session (its steps are in detail.steps).`,
    );
  if (stepIndex < 0 || stepIndex >= steps.length)
    throw new ServiceError(
      'INVALID_STEP_INDEX',
      `stepIndex must be from 0 to ${steps.length - 1} in this flow.`,
    );
  if (stepIndex === 0 && message === undefined && !toolCallMessages)
    throw new ServiceError('MISSING_MESSAGE', 'The step with index 0 needs a message.');
}
