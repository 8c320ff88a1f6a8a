import { setImmediate } from 'node:timers/promises';
import type { FlowDefinition, JsonSchema } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { eachStep } from '../../flow/step-path.ts';
import type { Problem } from './describe-file-problems.ts';

/** Throws SCHEMA_INVALID (platform/json-schema/validator.ts). */
export type CheckSchema = (schema: JsonSchema) => Promise<void>;

/**
 * After the first problem, no more schemas are compiled once this time is over: each oversized schema takes a second
 * of a thread.
 */
const LOOKED_MAX_MS = 3_000;

/**
 * Finds problems in the JSON Schemas of a flow's blocks: all of them, or those found within three seconds. Rethrows
 * errors of `check` that are not about a schema.
 */
export async function findSchemaProblems(definition: FlowDefinition, check: CheckSchema): Promise<Problem[]> {
  const began = performance.now();
  const problems: Problem[] = [];
  for (const { step, path } of eachStep(definition)) {
    if (step.type !== 'sequential') continue;
    for (const field of ['inputSchema', 'outputSchema'] as const) {
      const schema = step[field];
      if (schema === undefined) continue;
      if (problems.length > 0 && performance.now() - began > LOOKED_MAX_MS) return problems;
      await check(schema).catch((error: unknown) => {
        if (!(error instanceof ServiceError) || error.code !== 'SCHEMA_INVALID') throw error;
        problems.push({ path: [...path, field], message: error.message });
        // A refusal without a compilation is synchronous: let other requests run before the next.
        return setImmediate();
      });
    }
  }
  return problems;
}
