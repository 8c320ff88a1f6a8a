// Checks of resumes: iterations, outputs, and the fields of the run's start (docs/tool-calls.md).
import { getRunInput } from '../../../db/runs/runs.ts';
import { measureInput } from '../../../db/stored-values/stored-inputs.ts';
import type { FlowDefinition } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { MAX_TOOL_ITERATIONS_MAX } from '../../../flow/limits.ts';
import { applyOverride, type BlockOverrides, overrideOf } from '../../../flow/overrides.ts';
import { listBlocks } from '../../../flow/plan.ts';
import {
  countRounds,
  iterationCap,
  type PausePoint,
  type ToolCallMessage,
} from '../../../flow/tool-calls.ts';
import type { ApiDeps } from '../../deps.ts';
import { holdStored } from '../../http/hold-stored.ts';
import type { AcceptedCall } from './store-call.ts';

type StoredCall = Pick<AcceptedCall, 'executionId' | 'callId' | 'definition'>;

/**
 * Counts the model's requests for tools: the maximum of the caller's claim, the conversation and the stored row.
 * Throws TOOL_ITERATION_LIMIT above the block's cap.
 */
export function requireIterations(
  definition: FlowDefinition,
  overrides: BlockOverrides,
  { executionId, step_id, iterations }: Pick<PausePoint, 'step_id' | 'iterations'> & { executionId: string },
  messages: ToolCallMessage[],
  claimed = 0,
): number {
  const asked = Math.max(countRounds(messages), iterations);
  // A higher claim counts finished round-trips; otherwise the last one is still to be answered.
  const used = claimed > asked ? claimed : asked - 1;
  const cap = capOf(definition, overrides, step_id);
  if (used >= cap) {
    const said =
      claimed > asked
        ? `By the iterationsUsed of the request, the block ${step_id} has used ${used} tool-call round-trips`
        : `The block ${step_id} has used ${used} tool-call round-trips, and its model asks for tools again`;
    const resume =
      messages.at(-1)?.role === 'tool'
        ? 'send this resume again'
        : 'resume with the messages of this error and a result for each of their last tool_calls';
    const mend =
      used < MAX_TOOL_ITERATIONS_MAX
        ? ` Raise it with block overrides (at most ${MAX_TOOL_ITERATIONS_MAX}), and ${resume}.`
        : claimed > asked
          ? ' Send the iterationsUsed of the pause.'
          : '';
    throw new ServiceError(
      'TOOL_ITERATION_LIMIT',
      `${said}; its processor_config.max_tool_iterations is ${cap}.${mend}`,
      { executionId, step_id, iterations_used: used, cap, messages },
    );
  }
  return Math.max(claimed, asked);
}

/** Whether a call resumes a block whose model may not ask for tools again. */
export async function isLastRound(
  deps: Pick<ApiDeps, 'db' | 'largeValues'>,
  organizationId: string,
  run: StoredCall,
): Promise<boolean> {
  const bytes = await measureInput(deps.db, run.callId);
  const { resume, block_overrides } = await holdStored(deps, organizationId, bytes, async (db) => {
    const { block_overrides, continuation } = await getRunInput(db, run.callId);
    return { resume: continuation?.resume, block_overrides };
  });
  return resume !== undefined && resume.iterations >= capOf(run.definition, block_overrides, resume.step_id);
}

/**
 * Throws TOOL_ITERATION_LIMIT when a call ended with a pause beyond its block's cap. The run stays paused there. The
 * caller has reserved the memory of `measurePause`.
 */
export async function requirePauseAllowed(
  { db }: Pick<ApiDeps, 'db'>,
  { executionId, callId, definition }: StoredCall,
  pause: { pausedAtStep: string; iterationsUsed: number; toolCallMessages: ToolCallMessage[] },
): Promise<void> {
  const { pausedAtStep: step_id, iterationsUsed: iterations, toolCallMessages } = pause;
  const { block_overrides } = await getRunInput(db, callId);
  requireIterations(definition, block_overrides, { executionId, step_id, iterations }, toolCallMessages);
}

function capOf(definition: FlowDefinition, overrides: BlockOverrides, stepId: string): number {
  const block = listBlocks(definition).find(({ step_id }) => step_id === stepId);
  return block ? iterationCap(applyOverride(block, overrideOf(overrides, stepId))) : 0;
}
