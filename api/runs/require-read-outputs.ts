import type { FlowDefinition, Json } from '../../flow/definition.ts';
import { listVisibleSteps } from '../../flow/list-visible-steps.ts';
import { applyOverride, type BlockOverrides, overrideOf } from '../../flow/overrides.ts';
import { listBlocks } from '../../flow/plan.ts';
import { listStepsNamed } from '../flows/list-steps-named.ts';
import { invalidField } from '../http/invalid-field.ts';

type Range = {
  from: number;
  to: number;
  /** The block that goes on with its conversation: it reads nothing any more. */
  pausedAt?: string | undefined;
};

/**
 * Throws VALIDATION_ERROR when a block of the steps from `from` to `to` (exclusive) reads the output of a step before those by its
 * name, and the caller has not sent it.
 */
export function requireReadOutputs(
  { steps }: FlowDefinition,
  overrides: BlockOverrides,
  { from, to, pausedAt }: Range,
  sent: { [stepId: string]: Json },
): void {
  const earlier = new Set(steps.slice(0, from).map(({ step_id }) => step_id));
  for (const stored of listBlocks({ steps: steps.slice(from, to) })) {
    if (stored.step_id === pausedAt) continue;
    const named = listStepsNamed(applyOverride(stored, overrideOf(overrides, stored.step_id)));
    if (named.length === 0) continue;
    const visible = listVisibleSteps(steps, stored.step_id) ?? [];
    const absent = visible.find(
      ({ step_id }) => named.includes(step_id) && earlier.has(step_id) && !Object.hasOwn(sent, step_id),
    );
    if (absent)
      throw invalidField(
        `accumulatedOutputs.${absent.step_id}`,
        `is required: the output of an earlier step, which ${stored.step_id} reads`,
      );
  }
}
