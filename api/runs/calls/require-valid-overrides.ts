// Checks of requests that start or continue runs: overrides, tools, attachments, credits (docs/run-and-wait.md).

import type { FlowDefinition, JsonSchema } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { isObject } from '../../../flow/is-object.ts';
import { FLOW_STEPS_MAX } from '../../../flow/limits.ts';
import { type BlockOverrides, findOverrideProblems } from '../../../flow/overrides.ts';
import type { OrganizationValidator } from '../../../platform/json-schema/validator.ts';
import { stay } from '../../../platform/limits/turn-to-leave.ts';
import { invalidField } from '../../http/invalid-field.ts';
import { PROBLEMS_MAX } from '../../http/json-body.ts';

/**
 * Throws VALIDATION_ERROR for more overrides than a flow can have blocks. Runs before the shape of each is checked.
 */
export function requireFewOverrides(body: unknown): void {
  if (!isObject(body)) return;
  for (const field of ['block_overrides', 'blockOverrides']) {
    const overrides = body[field];
    if (!isObject(overrides) || Object.keys(overrides).length <= FLOW_STEPS_MAX) continue;
    throw invalidField(field, `must have at most ${FLOW_STEPS_MAX} entries`);
  }
}

/**
 * Throws VALIDATION_ERROR unless the overrides fit the flow. `field`: their name in the request. Releases the
 * request's permit for large work while their JSON Schemas are compiled in threads.
 */
export async function requireValidOverrides(
  validator: OrganizationValidator,
  definition: FlowDefinition,
  field: string,
  overrides: BlockOverrides,
  leaveLargeWork = stay,
): Promise<void> {
  const problems = findOverrideProblems(definition, overrides);
  const schemas = Object.entries(overrides).flatMap(([stepId, override]) =>
    (['inputSchema', 'outputSchema'] as const).flatMap((name) => {
      const schema = override[name];
      return schema === undefined ? [] : [{ field: `${stepId}.${name}`, schema }];
    }),
  );
  const findProblems = async () => {
    for (const { field, schema } of schemas) {
      const message = await findSchemaProblem(validator, schema);
      if (message) problems.push({ field, message });
    }
  };
  if (schemas.length > 0) await leaveLargeWork(findProblems);
  if (problems.length === 0) return;
  const errors = problems
    .slice(0, PROBLEMS_MAX)
    .map((problem) => ({ field: `${field}.${problem.field}`, message: problem.message }));
  throw new ServiceError(
    'VALIDATION_ERROR',
    errors.map((error) => `${error.field}: ${error.message}`).join('; '),
    { errors },
  );
}

async function findSchemaProblem(
  validator: OrganizationValidator,
  schema: JsonSchema,
): Promise<string | undefined> {
  try {
    await validator.requireValidSchema(schema);
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error.message;
    throw error;
  }
}
