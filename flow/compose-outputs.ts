// What steps answered, put together again from the stored outputs of their blocks.
import type { Json } from './definition.ts';
import { ServiceError } from './errors.ts';
import { interpret, meets, type Surroundings } from './interpreter.ts';
import { blockKey, type PlannedStep } from './plan.ts';
import { MESSAGE_REF, resolveValue, type Value } from './value.ts';

/**
 * The output of each of the first steps of a plan, by step_id, composed as the interpreter composed it. `completed`
 * holds the keys of the blocks whose outputs are stored; `load` reads those and the message. Throws CONFLICT with the
 * step_id of the first step that has not completed.
 */
export async function composeOutputs(
  steps: PlannedStep[],
  completed: Set<string>,
  load: (ref: string) => Promise<Json>,
): Promise<{ [stepId: string]: Json }> {
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
  let value: Value = { ref: MESSAGE_REF };
  for (const step of steps) {
    value = await interpret([step], value, surroundings).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      const message = `The run has not completed the step ${step.step_id}, which comes before: ${error.message}.`;
      throw new ServiceError('CONFLICT', message, { step_id: step.step_id });
    });
    outputs.push([step.step_id, await resolveValue(value, load)]);
  }
  return Object.fromEntries(outputs);
}
