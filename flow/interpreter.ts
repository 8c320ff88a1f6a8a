// Runs a plan, deterministically: everything with an effect is injected, so that tests and the workflow run the same code.
import type { Json, LoopCondition } from './definition.ts';
import { ServiceError } from './errors.ts';
import { findDifference, followPointer } from './json.ts';
import { BLOCK_RUNS_MAX, LOOP_ITERATIONS_MAX, OUTPUT_MAX_BYTES } from './limits.ts';
import {
  listInnerSteps,
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
  /** Counts the items of a value that is not inline. */
  inspect(value: Value): Promise<ItemCounts>;
  /** Whether the condition holds for a value that is not inline. */
  holds(condition: LoopCondition, value: Value): Promise<boolean>;
};

/** `items`: undefined for a value that is no array. `inner`: the items of each item, where one has any; null for no array. */
export type ItemCounts = { items: number | undefined; inner?: (number | null)[] };

/** How many items a value has, and how many each of them has, as far as that is known before it is used. */
type Known = { items: number | undefined; item?: ((index: number) => Known) | undefined } | undefined;

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
  let blockRuns = countCertain(steps, undefined, []);

  /** Runs the steps inside another step, none of whose blocks can pause. */
  async function runSteps(list: PlannedStep[], start: Value, iterations: number[]): Promise<Value> {
    let value = start;
    for (const [index, step] of list.entries())
      value = requireOutput(step, iterations, await runStep(list, index, value, iterations));
    return value;
  }

  /** Runs the step at `index` of a list. */
  function runStep(
    list: PlannedStep[],
    index: number,
    value: Value,
    iterations: number[],
  ): Promise<Value | Pause> {
    const step = list[index] as PlannedStep;
    switch (step.type) {
      case 'sequential':
        return surroundings.runBlock(step, value, iterations);
      case 'parallel':
        return runParallel(step, value, iterations);
      case 'loop':
        if (step.until) return runUntil(step, step.until, value, iterations);
        return runOver(step, list.slice(index + 1), value, iterations);
    }
  }

  /** Counts further iterations of a loop. Throws LOOP_LIMIT_EXCEEDED when the call would execute too many blocks. */
  function countIterations(step: PlannedLoop, count: number, iterations: number[]): void {
    blockRuns += count * countCertain(step.body, undefined, iterations);
    requireFit(step, count, blockRuns, iterations);
  }

  function requireFit(step: PlannedLoop, count: number, certain: number, iterations: number[]): void {
    if (certain > BLOCK_RUNS_MAX)
      throw new ServiceError(
        'LOOP_LIMIT_EXCEEDED',
        `With ${count} more iterations of the loop ${step.step_id}, the run would execute at least ${certain} blocks, and may execute ${BLOCK_RUNS_MAX} blocks in one call: give its loops fewer items, or split the work into several runs.`,
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

  async function runOver(
    step: PlannedLoop,
    after: PlannedStep[],
    value: Value,
    iterations: number[],
  ): Promise<Value> {
    const known = lookInto(value) ?? ofCounts(await surroundings.inspect(value));
    const count = requireItems(step, known.items, iterations);
    // The items also tell how many blocks the loops inside this one, and those after it, run.
    const more =
      countCertain([step, ...after], known, iterations) - countCertain(after, undefined, iterations);
    requireFit(step, count, blockRuns + more, iterations);
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
  for (const [index, step] of steps.entries()) {
    const reply = await runStep(steps, index, value, []);
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

/** Returns how many items a loop has. Throws LOOP_INPUT_NOT_ARRAY, and LOOP_LIMIT_EXCEEDED when it may not have so many. */
function requireItems(step: PlannedLoop, items: number | undefined, iterations: number[]): number {
  if (items === undefined)
    throw new ServiceError(
      'LOOP_INPUT_NOT_ARRAY',
      `The loop ${step.step_id} needs an array as its input: have the step before it return one, or give the loop an until.`,
      placeOf(step, iterations),
    );
  if (items > step.max_iterations)
    throw new ServiceError(
      'LOOP_LIMIT_EXCEEDED',
      `The loop ${step.step_id} has ${items} items; its max_iterations is ${step.max_iterations}: raise it (at most ${LOOP_ITERATIONS_MAX}), or hand the loop fewer items.`,
      placeOf(step, iterations),
    );
  return items;
}

/**
 * Counts the block executions of steps that are certain, whose first step has `input`. A loop over items has as many outputs as
 * items. Throws where a loop is known to get what it cannot take.
 */
function countCertain(steps: PlannedStep[], input: Known, iterations: number[]): number {
  let known = input;
  let sum = 0;
  for (const step of steps) {
    if (step.type === 'loop' && !step.until) {
      const items = known ? requireItems(step, known.items, iterations) : 0;
      const item = known?.item;
      if (!item) sum += items * countCertain(step.body, undefined, iterations);
      else
        for (let index = 0; index < items; index++)
          sum += countCertain(step.body, item(index), [...iterations, index]);
      known = known && { items };
    } else {
      const inside = step.type === 'loop' ? [...iterations, 0] : iterations;
      if (step.type === 'sequential') sum += 1;
      for (const inner of listInnerSteps(step)) sum += countCertain(inner, known, inside);
      known = undefined;
    }
  }
  return sum;
}

function lookInto(value: Value): Known {
  const items = countItems(value);
  return items === 'unknown' ? undefined : { items, item: (index) => lookInto(itemOf(value, index)) };
}

function ofCounts({ items, inner }: ItemCounts): NonNullable<Known> {
  return { items, item: inner && ((index) => ({ items: inner[index] ?? undefined })) };
}

/** Names the step of an error, with the iteration of each loop around it. */
function placeOf({ step_id }: PlannedStep, iterations: number[]) {
  return { step_id, ...(iterations.length > 0 && { iterations }) };
}

/** Counts the items of a value that was read. */
export function inspectItems(json: Json): ItemCounts {
  if (!Array.isArray(json)) return { items: undefined };
  const items = json.length;
  if (items > LOOP_ITERATIONS_MAX || !json.some(Array.isArray)) return { items };
  return { items, inner: json.map((item) => (Array.isArray(item) ? item.length : null)) };
}

/** Whether the value at the condition's pointer equals the condition's value. */
export function meets(condition: LoopCondition, json: Json): boolean {
  return findDifference(condition.equals, followPointer(json, condition.pointer)) === undefined;
}
