import type { FlowDefinition } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import type { StepRequest } from '../run-shapes/step-requests.ts';
import { requireFreshTree, staleTree } from './require-fresh-tree.ts';

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
