import { findStep, listsInside, type PlacedStep, type Step } from '../draft/steps.ts';

export type Direction = 'up' | 'down' | 'left' | 'right' | 'first' | 'last';

/** Finds the step that an arrow key leads to in the drawn graph: along the lines, or sideways to the next branch. */
export function findNeighbour(steps: Step[], stepId: string, direction: Direction): Step | undefined {
  if (direction === 'first') return steps[0];
  if (direction === 'last') return steps.at(-1);
  const placed = findStep(steps, stepId);
  if (!placed) return steps[0];
  const inside = listsInside(placed.step).find(({ steps }) => steps.length > 0)?.steps;
  if (direction === 'down') return inside?.[0] ?? below(steps, placed);
  if (direction === 'up') return above(placed);
  return beside(steps, placed, direction === 'left' ? -1 : 1);
}

function below(steps: Step[], { steps: list, place, parents }: PlacedStep): Step | undefined {
  const next = list[place.index + 1];
  if (next) return next;
  const parent = findStep(steps, parents.at(-1)?.step_id);
  return parent && below(steps, parent);
}

function above({ steps: list, place, parents }: PlacedStep): Step | undefined {
  const previous = list[place.index - 1];
  return previous ? lastInside(previous) : parents.at(-1);
}

/** Returns the step from which the line to the next step comes: the last step of the first branch, at any depth. */
function lastInside(step: Step): Step {
  const last = listsInside(step)[0]?.steps.at(-1);
  return last ? lastInside(last) : step;
}

/**
 * Finds the step in the neighbouring branch with the same index, or its last step; beyond the last branch, in the
 * enclosing parallel step.
 */
function beside(steps: Step[], { place, parents }: PlacedStep, by: -1 | 1): Step | undefined {
  const parent = parents.at(-1);
  if (!parent) return undefined;
  const lists = listsInside(parent);
  const next = lists[lists.findIndex(({ list }) => list.branch === place.branch) + by];
  if (next && place.branch !== undefined) return next.steps[Math.min(place.index, next.steps.length - 1)];
  const outer = findStep(steps, parent.step_id);
  return outer && beside(steps, outer, by);
}
