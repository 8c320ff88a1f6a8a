import type { FlowDefinition, Json } from '../../../flow/definition.ts';
import { applyOverride, type BlockOverrides, overrideOf } from '../../../flow/overrides.ts';
import { listBlocks } from '../../../flow/plan.ts';
import { listStepsNamed } from '../../flows/list-steps-named.ts';
import { type ReadCode, readCodeOf } from '../../flows/read-code-of.ts';
import { invalidField } from '../../http/invalid-field.ts';

type Range = {
  from: number;
  to: number;
  /** The block that continues its conversation: it reads no outputs. */
  pausedAt?: string | undefined;
};

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
