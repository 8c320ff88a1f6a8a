import type { FlowDefinition } from '../../../flow/definition.ts';
import type { ServiceError } from '../../../flow/errors.ts';
import { describeTreeProblems } from '../../../flow/find-tree-problems.ts';
import { treeError } from '../../flows/place-problem.ts';

/** Throws INVALID_TREE with every problem of a tree that has a valid shape. */
export function requireSoundTree(definition: FlowDefinition): void {
  const problems = describeTreeProblems(definition);
  if (problems.length > 0) throw invalidTree(problems);
}

/** Makes the 400 that names every problem of a published flow's tree. */
export function invalidTree(problems: { path: string; message: string }[]): ServiceError {
  return treeError(problems, (lines) => `The published flow can't be run: ${lines.join('; ')}`);
}
