// Checks of resumes: iterations, outputs, and the fields of the run's start (docs/tool-calls.md).

import { isDeepStrictEqual } from 'node:util';
import { getRunInput } from '../../../db/runs/runs.ts';
import { measureInput } from '../../../db/stored-values/stored-inputs.ts';
import type { StoredRunInput } from '../../../db/tables/run-input.ts';
import type { FlowDefinition, Json } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { MAX_TOOL_ITERATIONS_MAX } from '../../../flow/limits.ts';
import { applyOverride, type BlockOverrides, overrideOf } from '../../../flow/overrides.ts';
import { listBlocks } from '../../../flow/plan.ts';
import type { Attachment } from '../../../flow/run.ts';
import {
  countRounds,
  iterationCap,
  type PausePoint,
  type ToolCallMessage,
} from '../../../flow/tool-calls.ts';
import type { ApiDeps } from '../../deps.ts';
import { listStepsNamed } from '../../flows/find-block-problems.ts';
import { type ReadCode, readCodeOf } from '../../flows/read-code-of.ts';
import { invalidField } from '../../http/request-errors.ts';
import { reserveBytes } from '../../http/reserve-bytes.ts';
import { readUnresolved } from '../run-shapes/attachments.ts';
import type { AcceptedCall } from './store-call.ts';

type OfStart = Pick<StoredRunInput, 'parameters' | 'attachments'>;

type Range = {
  from: number;
  to: number;
  /** The block that continues its conversation: it reads no outputs. */
  pausedAt?: string | undefined;
};

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
  deps: Pick<ApiDeps, 'db' | 'gates'>,
  organizationId: string,
  run: StoredCall,
  gone: AbortSignal,
): Promise<boolean> {
  const bytes = await measureInput(deps.db, run.callId);
  using _permit = await reserveBytes(deps.gates.answers, organizationId, bytes, gone);
  const { block_overrides, continuation } = await getRunInput(deps.db, run.callId);
  const resume = continuation?.resume;
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

/**
 * Throws VALIDATION_ERROR when a block of the steps from `from` to `to` (exclusive) reads an earlier output by name
 * that the caller has not sent.
 */
export async function requireReadOutputs(
  readCode: ReadCode,
  { steps }: FlowDefinition,
  overrides: BlockOverrides,
  { from, to, pausedAt }: Range,
  sent: { [stepId: string]: Json },
): Promise<void> {
  // All steps before the range have ended: every block of the range may read them.
  const absent = steps.slice(0, from).filter(({ step_id }) => !Object.hasOwn(sent, step_id));
  if (absent.length === 0) return;
  const blocks = listBlocks({ steps: steps.slice(from, to) })
    .filter(({ step_id }) => step_id !== pausedAt)
    .map((block) => applyOverride(block, overrideOf(overrides, block.step_id)));
  const codeOf = await readCodeOf(readCode, blocks);
  for (const block of blocks) {
    const named = new Set(listStepsNamed(block, codeOf(block)));
    const missing = absent.find(({ step_id }) => named.has(step_id));
    if (missing)
      throw invalidField(
        `accumulatedOutputs.${missing.step_id}`,
        `is required: the output of an earlier step, which ${block.step_id} reads`,
      );
  }
}

/**
 * Throws VALIDATION_ERROR for parameters and attachments that differ from those the run was started with: they apply
 * to the whole run, so clients may repeat them, and a difference would be lost silently. Throws the error codes of
 * attachments.
 */
export function requireSameStart(
  { parameters, attachments = [] }: OfStart,
  sent: { parameters?: unknown; attachments?: unknown[] | undefined },
): void {
  const read = sent.attachments && readUnresolved(sent.attachments);
  if (sent.parameters && !isDeepStrictEqual(sent.parameters, parameters)) throw differs('parameters');
  if (read && !areSame(read, attachments)) throw differs('attachments');
}

function areSame(sent: ReturnType<typeof readUnresolved>, stored: Attachment[]): boolean {
  return isDeepStrictEqual(
    sent.map(({ attachment }) => attachment),
    stored,
  );
}

function differs(field: string): Error {
  return invalidField(
    field,
    'differs from the start of the run and cannot change: omit this field, or start another run',
  );
}
