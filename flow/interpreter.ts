// Runs a plan, deterministically: everything with an effect is injected, so that tests and the workflow run the same code.
import type { Json, LoopCondition } from './definition.ts';
import { ServiceError } from './errors.ts';
import { findDifference, followPointer } from './json.ts';
import { BLOCK_RUNS_MAX, LOOP_ITERATIONS_MAX, OUTPUT_MAX_BYTES } from './limits.ts';
import {
  countBlockRuns,
  type PlannedBlock,
  type PlannedLoop,
  type PlannedParallel,
  type PlannedStep,
} from './plan.ts';
import { isPause, type Pause } from './tool-calls.ts';
import { compact, countItems, isLeaf, itemOf, sizeOf, type Value } from './value.ts';

/** The effects that the interpreter needs from its surroundings. */
export type Surroundings = {
  /** Runs one block on its input; `iterations` holds the index in each enclosing loop, outermost first. */
  runBlock(block: PlannedBlock, input: Value, iterations: number[]): Promise<Value | Pause>;
  /** Counts the items of a value that is not inline; undefined when it is not an array. */
  inspect(value: Value): Promise<{ items: number | undefined }>;
  /** Whether the condition holds for a value that is not inline. */
  holds(condition: LoopCondition, value: Value): Promise<boolean>;
};

/**
 * Runs steps one after the other and returns the output of the last one (the input when there are no steps), or the pause of
 * the step that paused. What a loop or parallel step composes has at most OUTPUT_MAX_BYTES.
 */
export async function interpret(
  steps: PlannedStep[],
  input: Value,
  surroundings: Surroundings,
): Promise<Value | Pause> {
  /** Executions that are certain by now. They are counted before they begin, so that a loop with too many pays for none. */
  let blockRuns = countBlockRuns(steps, 'least');

  /** Runs the steps inside another step, none of whose blocks can pause. */
  async function runSteps(list: PlannedStep[], start: Value, iterations: number[]): Promise<Value> {
    let value = start;
    for (const step of list) value = requireOutput(step, iterations, await runStep(step, value, iterations));
    return value;
  }

  function runStep(step: PlannedStep, value: Value, iterations: number[]): Promise<Value | Pause> {
    switch (step.type) {
      case 'sequential':
        return surroundings.runBlock(step, value, iterations);
      case 'parallel':
        return runParallel(step, value, iterations);
      case 'loop':
        return step.until ? runUntil(step, step.until, value, iterations) : runOver(step, value, iterations);
    }
  }

  /** Counts further iterations of a loop. Throws LOOP_LIMIT_EXCEEDED when the call would execute too many blocks. */
  function countIterations(step: PlannedLoop, count: number, iterations: number[]): void {
    blockRuns += count * countBlockRuns(step.body, 'least');
    if (blockRuns > BLOCK_RUNS_MAX)
      throw new ServiceError(
        'LOOP_LIMIT_EXCEEDED',
        `With ${count} more iterations of the loop ${step.step_id}, the run would execute at least ${blockRuns} blocks, and may execute ${BLOCK_RUNS_MAX} blocks in one call: give its loops fewer items, or split the work into several runs.`,
        placeOf(step, iterations),
      );
  }

  async function runParallel(step: PlannedParallel, value: Value, iterations: number[]): Promise<Value> {
    const names = Object.keys(step.branches);
    const outputs = await Promise.all(
      names.map((name) => runSteps(step.branches[name] as PlannedStep[], value, iterations)),
    );
    const composed = { branches: Object.fromEntries(names.map((name, i) => [name, outputs[i] as Value])) };
    requireComposable(step, iterations, sizeOf(composed));
    return compact(composed);
  }

  async function runOver(step: PlannedLoop, value: Value, iterations: number[]): Promise<Value> {
    const known = countItems(value);
    const count = known === 'unknown' ? (await surroundings.inspect(value)).items : known;
    if (count === undefined)
      throw new ServiceError(
        'LOOP_INPUT_NOT_ARRAY',
        `The loop ${step.step_id} needs an array as its input: have the step before it return one, or give the loop an until.`,
        placeOf(step, iterations),
      );
    if (count > step.max_iterations)
      throw new ServiceError(
        'LOOP_LIMIT_EXCEEDED',
        `The loop ${step.step_id} has ${count} items; its max_iterations is ${step.max_iterations}: raise it (at most ${LOOP_ITERATIONS_MAX}), or hand the loop fewer items.`,
        placeOf(step, iterations),
      );
    countIterations(step, count, iterations);
    const items: Value[] = [];
    let bytes = 1;
    for (let index = 0; index < count; index++) {
      const output = await runSteps(step.body, itemOf(value, index), [...iterations, index]);
      items.push(output);
      bytes += 1 + sizeOf(output);
      requireComposable(step, iterations, bytes);
    }
    return compact({ items });
  }

  async function runUntil(
    step: PlannedLoop,
    until: LoopCondition,
    start: Value,
    iterations: number[],
  ): Promise<Value> {
    const items: Value[] = [];
    let value = start;
    let bytes = 1;
    for (let index = 0; index < step.max_iterations; index++) {
      // The first one was certain before.
      if (index > 0) countIterations(step, 1, iterations);
      value = await runSteps(step.body, value, [...iterations, index]);
      items.push(value);
      bytes += 1 + sizeOf(value);
      requireComposable(step, iterations, bytes);
      const inline = isLeaf(value) ? value.json : undefined;
      const done = inline === undefined ? await surroundings.holds(until, value) : meets(until, inline);
      if (done) break;
    }
    return compact({ items });
  }

  /** Measures a composition before it is built: each part may be small enough to store, and all together too large. */
  function requireComposable(step: PlannedStep, iterations: number[], bytes: number): void {
    if (bytes > OUTPUT_MAX_BYTES)
      throw new ServiceError(
        'OUTPUT_TOO_LARGE',
        `The outputs of ${step.step_id} together have more than ${OUTPUT_MAX_BYTES} bytes (many values count as more): let its blocks return less.`,
        placeOf(step, iterations),
      );
  }

  let value = input;
  let answered = 0;
  for (const step of steps) {
    const reply = await runStep(step, value, []);
    if (isPause(reply)) {
      requireCarriable(step, answered + (reply.carriedBytes ?? 0));
      return reply;
    }
    value = reply;
    answered += sizeOf(value);
  }
  return value;
}

function requireCarriable({ step_id }: PlannedStep, bytes: number): void {
  if (bytes > OUTPUT_MAX_BYTES)
    throw new ServiceError(
      'OUTPUT_TOO_LARGE',
      `${step_id} waits for the results of tools, and the outputs of the steps before it, which a resume sends back, have ${bytes} bytes (many values count as more): at most ${OUTPUT_MAX_BYTES} can be carried.`,
      { step_id },
    );
}

function requireOutput(step: PlannedStep, iterations: number[], reply: Value | Pause): Value {
  if (!isPause(reply)) return reply;
  throw new ServiceError(
    'TOOLS_IN_NON_SEQUENTIAL_STEP',
    `${step.step_id} is inside another step and can't pause.`,
    placeOf(step, iterations),
  );
}

/** Names the step of an error, with the iteration of each loop around it. */
function placeOf({ step_id }: PlannedStep, iterations: number[]) {
  return { step_id, ...(iterations.length > 0 && { iterations }) };
}

/** Tells of a value that was read how many items it has; undefined when it is not an array. */
export function inspectItems(json: Json): { items: number | undefined } {
  return { items: Array.isArray(json) ? json.length : undefined };
}

/** Whether the value at the condition's pointer equals the condition's value. */
export function meets(condition: LoopCondition, json: Json): boolean {
  return findDifference(condition.equals, followPointer(json, condition.pointer)) === undefined;
}
