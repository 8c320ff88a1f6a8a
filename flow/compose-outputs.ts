// Composes the outputs of steps from the stored outputs of their blocks, as the interpreter composed them.

import type { Json } from './definition.ts';
import { ServiceError } from './errors.ts';
import { type ItemCounts, inspectItems, interpret, meets, type Surroundings } from './interpreter.ts';
import { blockKey, listInnerSteps, type PlannedLoop, type PlannedStep } from './plan.ts';
import { itemOf, type Load, resolveValue, type Value } from './value.ts';

type BlockPlace = { stepId: string; iterations: number[] };

/** Steps one after the other, in one iteration of each loop around them; `start` is the input of the first. */
type Sequence = { steps: PlannedStep[]; iterations: number[]; start: () => Promise<Value> };

/** Outputs by step_id; `value` is the last one's, the input when there is none. */
type ComposedOutputs = Pick<ComposedValues, 'missing'> & {
  outputs: { [stepId: string]: Json };
  value: Value;
};

/** A fact about a value that a loop needs: how many items it has, or whether the loop's condition holds. */
type Fact = boolean | ItemCounts;

export type Facts = Map<string, Fact>;

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

/**
 * Creates the functions that answer a loop's questions about stored values. Each value is resolved once; `facts` caches the
 * answers.
 */
export function lookUpFacts(
  resolve: (value: Value) => Promise<Json>,
  facts: Facts,
): Pick<Surroundings, 'inspect' | 'holds'> {
  async function know<T extends Fact>(what: string, value: Value, look: (json: Json) => T): Promise<T> {
    const key = `${what} ${JSON.stringify(value)}`;
    const known = facts.get(key) as T | undefined;
    const fact = known ?? look(await resolve(value));
    facts.set(key, fact);
    return fact;
  }
  return {
    inspect: (value) => know('items', value, inspectItems),
    holds: (condition, value) => know(JSON.stringify(condition), value, (json) => meets(condition, json)),
  };
}

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

/**
 * Composes the outputs of those steps of `names` that the block at `place` may see: they have ended. `measure` returns the bytes
 * of a stored output; loops are followed with `facts`.
 */
export async function composeVisibleOutputs(
  steps: PlannedStep[],
  place: BlockPlace,
  names: ReadonlySet<string>,
  input: Value,
  measure: (key: string) => number | undefined,
  facts: Pick<Surroundings, 'inspect' | 'holds'>,
): Promise<Map<string, Value>> {
  const found = new Map<string, Value>();

  async function outputOf(sequence: Sequence, index: number): Promise<Value> {
    const step = sequence.steps[index] as PlannedStep;
    const { iterations: outside } = sequence;
    const surroundings: Surroundings = {
      ...facts,
      async runBlock(block, _input, iterations) {
        const ref = blockKey(block.step_id, [...outside, ...iterations]);
        const bytes = measure(ref);
        return { ref, ...(bytes !== undefined && { bytes }) };
      },
    };
    const start = needsInput(step) ? await inputOf(sequence, index) : input;
    // Only a model call can pause, and none is made here.
    return (await interpret([step], start, surroundings)) as Value;
  }

  async function inputOf(sequence: Sequence, index: number): Promise<Value> {
    return index === 0 ? sequence.start() : outputOf(sequence, index - 1);
  }

  function iterationOf(loop: PlannedLoop, outer: Sequence, index: number, iteration: number): Sequence {
    return {
      steps: loop.body,
      iterations: [...outer.iterations, iteration],
      start: async () => {
        if (!loop.until) return itemOf(await inputOf(outer, index), iteration);
        if (iteration === 0) return inputOf(outer, index);
        return outputOf(iterationOf(loop, outer, index, iteration - 1), loop.body.length - 1);
      },
    };
  }

  /** Returns whether the block is in the sequence; composes what comes before it. */
  async function visit(sequence: Sequence, iterations: number[]): Promise<boolean> {
    const index = sequence.steps.findIndex((step) => holdsStep(step, place.stepId));
    const step = sequence.steps[index];
    if (!step) return false;
    for (const [at, { step_id }] of sequence.steps.slice(0, index).entries())
      if (names.has(step_id)) found.set(step_id, await outputOf(sequence, at));
    if (step.type === 'loop') {
      const [iteration = 0, ...inner] = iterations;
      return visit(iterationOf(step, sequence, index, iteration), inner);
    }
    if (step.type === 'sequential') return true;
    for (const branch of Object.values(step.branches)) {
      const start = () => inputOf(sequence, index);
      if (await visit({ ...sequence, steps: branch, start }, iterations)) return true;
    }
    return false;
  }

  await visit({ steps, iterations: [], start: async () => input }, place.iterations);
  return found;
}

/** Whether composing a step's output takes its input besides the outputs of its blocks: a loop runs as often as its input says. */
function needsInput(step: PlannedStep | undefined): boolean {
  if (step?.type === 'sequential') return false;
  return step?.type !== 'parallel' || Object.values(step.branches).some(([first]) => needsInput(first));
}

function holdsStep(step: PlannedStep, stepId: string): boolean {
  if (step.step_id === stepId) return true;
  return listInnerSteps(step).some((steps) => steps.some((inner) => holdsStep(inner, stepId)));
}
