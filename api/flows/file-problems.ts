import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';
import type { FlowDefinition, JsonSchema } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { eachStep, formatPath, type PathSegment } from '../../flow/step-path.ts';
import type { placedProblem } from './schemas.ts';

/** Throws SCHEMA_INVALID (platform/json-schema/validator.ts). */
export type CheckSchema = (schema: JsonSchema) => Promise<void>;

/**
 * After the first problem, no more schemas are compiled once this time is over: each oversized schema takes a second
 * of a thread.
 */
const LOOKED_MAX_MS = 3_000;

const PROBLEMS_MAX = 100;

/** Longer than any valid name. Invalid names come from callers and may have any length. */
const SHOWN_NAME_MAX_LENGTH = 200;

/**
 * A problem in a flow file. `path` is for people: `steps[2].branches.summary[0].prompt`. `line` counts from 1. `step_id`: null
 * where it is about the whole flow.
 */
export type FileProblem = { path: string; message: string; line?: number; step_id?: string | null };
export type PlacedProblem = z.input<typeof placedProblem>;
/** `line`: set when it differs from the line of the path. `within`: the position in the text at the path, from 1. */
export type Problem = {
  path: PathSegment[];
  message: string;
  line?: number;
  within?: { line?: number; column?: number };
};

/**
 * Adds the position of a problem, for people and for programs: the step, its field, and the line in the field's text.
 */
export function placeProblem(definition: FlowDefinition, { path, message, within }: Problem): PlacedProblem {
  let node: unknown = definition;
  let stepId: string | null = null;
  let field: PathSegment[] = [];
  for (const segment of path) {
    node = (node as { [key: PathSegment]: unknown } | null | undefined)?.[segment];
    const id = (node as { step_id?: unknown } | null | undefined)?.step_id;
    field = typeof id === 'string' ? [] : [...field, segment];
    if (typeof id === 'string') stepId = id.slice(0, SHOWN_NAME_MAX_LENGTH);
  }
  return {
    path: formatPath(path.map(cut)),
    message,
    step_id: stepId,
    field: formatPath(field.map(cut)) || null,
    ...within,
  };
}

function cut(segment: PathSegment): PathSegment {
  return typeof segment === 'string' ? segment.slice(0, SHOWN_NAME_MAX_LENGTH) : segment;
}

/** Makes the error that lists problems in the order of their lines. */
export function describeFileProblems(
  code: 'VALIDATION_ERROR' | 'INVALID_TREE',
  problems: FileProblem[],
): ServiceError {
  const shown = problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)).slice(0, PROBLEMS_MAX);
  const lines = shown.map(
    ({ path, message, line }) => `${line ? `line ${line}: ` : ''}${path ? `${path}: ` : ''}${message}`,
  );
  if (problems.length > shown.length) lines.push(`and ${problems.length - shown.length} more problems.`);
  return new ServiceError(code, lines.join('\n'), { problems: shown });
}

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
