import { type ComposedValues, composeValues } from './compose-values.ts';
import type { Json } from './definition.ts';
import type { PlannedStep } from './plan.ts';
import { type Load, resolveValue, type Value } from './value.ts';

/** Outputs by step_id; `value` is the last one's, the input when there is none. */
type ComposedOutputs = Pick<ComposedValues, 'missing'> & {
  outputs: { [stepId: string]: Json };
  value: Value;
};

/** Composes the values of steps as composeValues does, and reads them. */
export async function composeOutputs(
  steps: PlannedStep[],
  completed: Set<string>,
  load: Load,
  input: Value,
): Promise<ComposedOutputs> {
  const { values, missing } = await composeValues(steps, completed, load, input);
  const outputs: [string, Json][] = [];
  for (const [stepId, value] of values) outputs.push([stepId, await resolveValue(value, load)]);
  return {
    outputs: Object.fromEntries(outputs),
    value: [...values.values()].at(-1) ?? input,
    ...(missing && { missing }),
  };
}
