import type { FlowDefinition } from '../../flow/definition.ts';
import { findTreeProblems } from '../../flow/find-tree-problems.ts';
import { listBlocks } from '../../flow/plan.ts';
import type { OrganizationValidator } from '../../platform/json-schema/validator.ts';
import { findBlockProblems } from './find-block-problems.ts';
import { findSchemaProblems } from './find-schema-problems.ts';
import { placeProblem, treeError } from './place-problem.ts';
import { type ReadCode, readCodeOf } from './read-code-of.ts';

/** Throws INVALID_TREE with every problem of the tree, its blocks and the JSON Schemas in it. */
export async function requireRunnable(
  definition: FlowDefinition,
  validator: OrganizationValidator,
  readCode: ReadCode,
): Promise<void> {
  const codeOf = await readCodeOf(readCode, listBlocks(definition));
  const found = [
    ...findTreeProblems(definition),
    ...findBlockProblems(definition, codeOf),
    ...(await findSchemaProblems(definition, validator.requireValidSchema)),
  ];
  if (found.length === 0) return;
  const problems = found.map((problem) => placeProblem(definition, problem));
  throw treeError(problems, (lines) => lines.join('\n'));
}
