// Composes the outputs of steps from the stored outputs of their blocks, as the interpreter composed them.
import { ServiceError } from './errors.ts';
import { interpret, type Surroundings } from './interpreter.ts';
import { type Facts, lookUpFacts } from './look-up-facts.ts';
import { blockKey, type PlannedStep } from './plan.ts';
import { type Load, resolveValue, type Value } from './value.ts';

/** Values by step_id, in the order of the plan; `missing` names the first step that has not completed, and why. */
export type ComposedValues = {
  values: Map<string, Value>;
  missing?: { step_id: string; message: string };
};

/**
 * Composes the values of the first steps of a plan as the interpreter did, up to the first step that has not completed.
 * `completed` holds the keys of the blocks whose outputs are stored; `load` reads those and `input`, the input of the first
 * step, where a loop depends on them. `facts` caches facts about large values for the next call with the same run.
 */
export async function composeValues(
  steps: PlannedStep[],
  completed: Set<string>,
  load: Load,
  input: Value,
  facts: Facts = new Map(),
): Promise<ComposedValues> {
  const surroundings: Surroundings = {
    ...lookUpFacts((value) => resolveValue(value, load), facts),
    async runBlock(block, _input, iterations) {
      const ref = blockKey(block.step_id, iterations);
      if (!completed.has(ref)) throw new ServiceError('CONFLICT', `${ref} has not completed`);
      return { ref };
    },
  };
  const values = new Map<string, Value>();
  let value = input;
  for (const step of steps) {
    try {
      // Only a model call can pause, and none is made here.
      value = (await interpret([step], value, surroundings)) as Value;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { values, missing: { step_id: step.step_id, message: error.message } };
    }
    values.set(step.step_id, value);
  }
  return { values };
}
