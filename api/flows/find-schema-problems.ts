import type { FlowDefinition, JsonSchema } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { eachStep } from '../../flow/step-path.ts';
import type { Problem } from './describe-file-problems.ts';

/** Throws SCHEMA_INVALID (json-schema/validator.ts). */
export type CheckSchema = (schema: JsonSchema) => Promise<void>;

/** Finds what is wrong with the JSON Schemas of a flow's blocks. */
export async function findSchemaProblems(definition: FlowDefinition, check: CheckSchema): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { step, path } of eachStep(definition)) {
    if (step.type !== 'sequential') continue;
    for (const field of ['inputSchema', 'outputSchema'] as const) {
      const schema = step[field];
      if (schema === undefined) continue;
      await check(schema).catch((error: unknown) => {
        if (!(error instanceof ServiceError)) throw error;
        problems.push({ path: [...path, field], message: error.message });
      });
    }
  }
  return problems;
}
