// The tree of steps of a flow, and ways to walk and change it. Each step has a step_id and a name: the service fills in
// both.
import type { components } from '../../api/schema.d.ts';

type Written = components['schemas'];
type Named = { step_id: string; name: string };

/** One block. */
export type SequentialStep = Omit<Written['SequentialStep'], 'type' | keyof Named> &
  Named & { type: 'sequential' };
/** Branches that run in parallel. */
export type ParallelStep = Named & { type: 'parallel'; branches: Record<string, Step[]> };
/** A body that runs for each item, or until a condition is met. */
export type LoopStep = Omit<Written['LoopStep'], 'type' | 'body' | 'max_iterations' | keyof Named> &
  Named & { type: 'loop'; body: Step[]; max_iterations: number };
export type Step = SequentialStep | ParallelStep | LoopStep;

/** A list of steps: the flow's own (`parent` is null), a loop's body, or a branch of a parallel step. */
export type StepList = { parent: string | null; branch?: string };

/** A position in a list of steps: before the step with this index, or after the last one. */
export type Place = StepList & { index: number };

/** A step and its position; `parents` are the enclosing steps, outermost first. */
export type PlacedStep = { step: Step; place: Place; steps: Step[]; parents: Step[] };

/** Types the steps of a response, in which the service has filled in what may be absent from a request. */
export function toSteps(steps: Written['Steps']): Step[] {
  return steps as Step[];
}

/** Returns the lists of steps inside a step. */
export function listsInside(step: Step): { list: StepList; steps: Step[] }[] {
  if (step.type === 'loop') return [{ list: { parent: step.step_id }, steps: step.body }];
  if (step.type !== 'parallel') return [];
  return Object.entries(step.branches).map(([branch, steps]) => ({
    list: { parent: step.step_id, branch },
    steps,
  }));
}

/** Yields every step in tree order, parents before their inner steps. */
export function* eachStep(
  steps: Step[],
  list: StepList = { parent: null },
  parents: Step[] = [],
): Generator<PlacedStep> {
  for (const [index, step] of steps.entries()) {
    yield { step, place: { ...list, index }, steps, parents };
    for (const inner of listsInside(step)) yield* eachStep(inner.steps, inner.list, [...parents, step]);
  }
}

export function findStep(steps: Step[], stepId: string | undefined): PlacedStep | undefined {
  for (const placed of eachStep(steps)) if (placed.step.step_id === stepId) return placed;
  return undefined;
}

export function stepIdsOf(steps: Step[]): Set<string> {
  return new Set([...eachStep(steps)].map(({ step }) => step.step_id));
}

/** Changes lists of steps, inner lists first. Unchanged parts keep their identity. */
export function mapLists(
  steps: Step[],
  change: (steps: Step[], list: StepList) => Step[],
  list: StepList = { parent: null },
): Step[] {
  return change(
    mapEach(steps, (step) => mapInside(step, change)),
    list,
  );
}

/** Replaces the step with this step_id by the result of `change`. */
export function changeStep(steps: Step[], stepId: string, change: (step: Step) => Step): Step[] {
  return mapLists(steps, (list) => mapEach(list, (step) => (step.step_id === stepId ? change(step) : step)));
}

function mapInside(step: Step, change: (steps: Step[], list: StepList) => Step[]): Step {
  const parent = step.step_id;
  if (step.type === 'loop') {
    const body = mapLists(step.body, change, { parent });
    return body === step.body ? step : { ...step, body };
  }
  if (step.type !== 'parallel') return step;
  const before = Object.entries(step.branches);
  const after = before.map(
    ([branch, steps]) => [branch, mapLists(steps, change, { parent, branch })] as const,
  );
  if (after.every(([, steps], index) => steps === before[index]?.[1])) return step;
  return { ...step, branches: Object.fromEntries(after) };
}

function mapEach(steps: Step[], change: (step: Step) => Step): Step[] {
  const changed = steps.map(change);
  return changed.every((step, index) => step === steps[index]) ? steps : changed;
}
