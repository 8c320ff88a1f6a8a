// What steps answered, put together again from the stored outputs of their blocks.
import type { Json } from './definition.ts';
import { ServiceError } from './errors.ts';
import { interpret, meets, type Surroundings } from './interpreter.ts';
import { blockKey, type PlannedStep } from './plan.ts';
import { resolveValue, type Value } from './value.ts';

/** Outputs by step_id; `value` is the last one's; `missing` names the first step that has not completed, and why. */
export type ComposedOutputs = {
  outputs: { [stepId: string]: Json };
  value: Value;
  missing?: { step_id: string; message: string };
};

/**
 * The outputs of the first steps of a plan, composed as the interpreter composed them, up to the first step that has not
 * completed. `completed` holds the keys of the blocks whose outputs are stored; `load` reads those and `input`, which the
 * first step got.
 */
export async function composeOutputs(
  steps: PlannedStep[],
  completed: Set<string>,
  load: (ref: string) => Promise<Json>,
  input: Value,
): Promise<ComposedOutputs> {
  const surroundings: Surroundings = {
    async runBlock(block, _input, iterations) {
      const ref = blockKey(block.step_id, iterations);
      if (!completed.has(ref)) throw new ServiceError('CONFLICT', `${ref} has not completed`);
      return { ref };
    },
    async inspect(value) {
      const json = await resolveValue(value, load);
      return { items: Array.isArray(json) ? json.length : undefined };
    },
    holds: async (condition, value) => meets(condition, await resolveValue(value, load)),
  };
  const outputs: [string, Json][] = [];
  let value = input;
  for (const step of steps) {
    try {
      // Only a model pauses, and none is asked here.
      value = (await interpret([step], value, surroundings)) as Value;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const missing = { step_id: step.step_id, message: error.message };
      return { outputs: Object.fromEntries(outputs), value, missing };
    }
    outputs.push([step.step_id, await resolveValue(value, load)]);
  }
  return { outputs: Object.fromEntries(outputs), value };
}
