import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { describeTreeProblems } from '../../flow/find-tree-problems.ts';
import type { OrganizationValidator } from '../../json-schema/validator.ts';
import { findSchemaProblems } from './flow-file.ts';

/** Throws INVALID_TREE with every problem of the tree and of the JSON Schemas in it. */
export async function requireRunnable(
  definition: FlowDefinition,
  validator: OrganizationValidator,
): Promise<void> {
  const problems = [
    ...describeTreeProblems(definition),
    ...(await findSchemaProblems(definition, validator.requireValidSchema)),
  ];
  if (problems.length === 0) return;
  const lines = problems.map(({ path, message }) => `${path}: ${message}`);
  throw new ServiceError('INVALID_TREE', lines.join('\n'), { problems });
}
