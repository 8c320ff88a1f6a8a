import { interpret, type Surroundings } from './interpreter.ts';
import { blockKey, listInnerSteps, type PlannedLoop, type PlannedStep } from './plan.ts';
import { itemOf, type Value } from './value.ts';

type BlockPlace = { stepId: string; iterations: number[] };
/** Steps one after the other, in one iteration of each loop around them; `start` is the input of the first. */
type Sequence = { steps: PlannedStep[]; iterations: number[]; start: () => Promise<Value> };

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
