import type { FlowDefinition } from '../../flow/definition.ts';
import { tooManyBranches, tooManySteps } from '../../flow/find-tree-problems.ts';
import { isObject } from '../../flow/is-object.ts';
import { BRANCHES_MAX, FLOW_STEPS_MAX } from '../../flow/limits.ts';
import type { PathSegment } from '../../flow/step-path.ts';
import { wrongDraft } from './find-draft-problems.ts';

/** Throws INVALID_TREE for more steps or branches than a flow can have. Runs before the shape of each is checked. */
export function requireFewSteps(body: unknown): void {
  if (!isObject(body)) return;
  const refuse = (path: PathSegment[], message: string) => {
    throw wrongDraft(body as unknown as FlowDefinition, [{ path, message }]);
  };
  const count = countSteps(body.steps, ['steps'], refuse);
  if (count > FLOW_STEPS_MAX) refuse(['steps'], tooManySteps(count));
}

function countSteps(
  steps: unknown,
  path: PathSegment[],
  refuse: (path: PathSegment[], message: string) => void,
): number {
  if (!Array.isArray(steps)) return 0;
  let count = steps.length;
  for (const [index, step] of steps.entries()) {
    if (!isObject(step)) continue;
    if ('body' in step) count += countSteps(step.body, [...path, index, 'body'], refuse);
    if (!isObject(step.branches)) continue;
    const branches = Object.entries(step.branches);
    const here = [...path, index, 'branches'];
    if (branches.length > BRANCHES_MAX) refuse(here, tooManyBranches(branches.length));
    for (const [name, branch] of branches) count += countSteps(branch, [...here, name], refuse);
  }
  return count;
}
