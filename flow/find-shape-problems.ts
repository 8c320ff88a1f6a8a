import { PROCESSOR_TYPES } from './definition.ts';
import type { TreeProblem } from './find-tree-problems.ts';
import { isObject } from './is-object.ts';
import type { PathSegment } from './step-path.ts';

type ShapeProblem = Omit<TreeProblem, 'incomplete'>;

/** Finds what keeps a definition from being walked, from the outside in; [] when `findTreeProblems` can do the rest. */
export function findShapeProblems(definition: unknown): ShapeProblem[] {
  return checkSteps((definition as { steps?: unknown } | null)?.steps, ['steps']);
}

function checkSteps(steps: unknown, path: PathSegment[]): ShapeProblem[] {
  if (!Array.isArray(steps)) return [{ path, message: 'Steps must be an array.' }];
  return steps.flatMap((step, index) => checkStep(step, [...path, index]));
}

function checkStep(step: unknown, path: PathSegment[]): ShapeProblem[] {
  if (!isObject(step)) return [{ path, message: 'A step must be an object.' }];
  const { type, step_id, name, processor_type } = step;
  if (typeof step_id !== 'string' || typeof name !== 'string')
    return [{ path, message: 'A step needs a step_id and a name.' }];
  if (type === 'loop') return checkSteps(step.body, [...path, 'body']);
  if (type === 'parallel') {
    const at = [...path, 'branches'];
    if (!isObject(step.branches)) return [{ path: at, message: 'Branches must be an object.' }];
    return Object.entries(step.branches).flatMap(([branch, steps]) => checkSteps(steps, [...at, branch]));
  }
  if (type !== 'sequential')
    return [{ path: [...path, 'type'], message: 'The type must be sequential, parallel or loop.' }];
  return PROCESSOR_TYPES.some((known) => known === processor_type)
    ? []
    : [
        {
          path: [...path, 'processor_type'],
          message: `The processor_type must be one of ${PROCESSOR_TYPES.join(', ')}.`,
        },
      ];
}
