// Flow files: reads and writes a flow as YAML or JSON, for `weir flow import` and `export` (docs/flow-file.md).
import { stringify } from 'yaml';
import type { z } from 'zod';
import type { FlowDefinition, Step } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findTreeProblems } from '../../flow/find-tree-problems.ts';
import { formatPath, type PathSegment } from '../../flow/step-path.ts';
import { describeIssue } from '../http/describe-issue.ts';
import { findBlockProblems } from './find-block-problems.ts';
import { type CheckSchema, findSchemaProblems } from './find-schema-problems.ts';
import {
  describeFileProblems,
  type FileProblem,
  findNonJson,
  type Problem,
  parseText,
} from './parse-text.ts';
import { replaceWrongSteps } from './replace-wrong-steps.ts';
import { completeSteps, flowFileSchema } from './written-flow.ts';

export const FLOW_FILE_MAX_BYTES = 2 * 1024 * 1024;

export type FlowFileFormat = 'yaml' | 'json';
export type FlowFile = { name: string; slug: string; description?: string; steps: Step[] };
type Inspected = {
  /** Absent when the shape is wrong. */
  file?: FlowFile;
  /** The steps that have the right shape, where they are in the file; [] when there are none. */
  definition: FlowDefinition;
  shapeProblems: Problem[];
  flowProblems: Problem[];
  lineOf(path: PathSegment[]): number;
};

/**
 * Parses a flow file. Throws VALIDATION_ERROR for a text that is not a flow file and INVALID_TREE for a flow that cannot
 * run, both with all problems in the order of their lines, as `extra.problems: FileProblem[]`. Does not check the JSON
 * Schemas inside: see `parseUsableFlowFile`.
 */
export function parseFlowFile(text: string, format: FlowFileFormat): FlowFile {
  return requireSound(inspect(text, format), []);
}

/** Parses a flow file as `parseFlowFile` does and checks its JSON Schemas too. `check` throws SCHEMA_INVALID. */
export async function parseUsableFlowFile(
  text: string,
  format: FlowFileFormat,
  check: CheckSchema,
): Promise<FlowFile> {
  const inspected = inspect(text, format);
  return requireSound(inspected, await findSchemaProblems(inspected.definition, check));
}

/** Writes a flow as a file that `parseFlowFile` reads as the same flow. */
export function formatFlowFile(file: FlowFile, format: FlowFileFormat): string {
  if (format === 'json') return `${JSON.stringify(file, null, 2)}\n`;
  return stringify(file, { lineWidth: 0, aliasDuplicateObjects: false });
}

function inspect(text: string, format: FlowFileFormat): Inspected {
  if (Buffer.byteLength(text) > FLOW_FILE_MAX_BYTES)
    throw new ServiceError('VALIDATION_ERROR', `A flow file must have at most ${FLOW_FILE_MAX_BYTES} bytes.`);
  const { value, lineOf } = parseText(text, format);
  const wrong = findNonJson(value);
  if (wrong.length > 0) return { definition: { steps: [] }, shapeProblems: wrong, flowProblems: [], lineOf };
  const { data, error } = parseShape(value);
  const shapeProblems = error?.issues.flatMap(toProblems) ?? [];
  const paths = shapeProblems.map(({ path }) => path);
  // What is wrong inside the other steps is found all the same.
  const written = data ?? parseShape(replaceWrongSteps(value, paths)).data;
  const definition = written ? completeSteps(written.steps) : { steps: [] };
  const flowProblems = [...findTreeProblems(definition), ...findBlockProblems(definition)];
  if (!data) return { definition, shapeProblems, flowProblems, lineOf };
  const { name, slug, description } = data;
  const file = { name, slug, ...(description !== undefined && { description }), ...definition };
  return { file, definition, shapeProblems, flowProblems, lineOf };
}

function parseShape(value: unknown) {
  const { data, error } = flowFileSchema.safeParse(value, { error: describeFileIssue });
  return { data: data as z.infer<typeof flowFileSchema> | undefined, error };
}

function requireSound(inspected: Inspected, schemaProblems: Problem[]): FlowFile {
  const { file, shapeProblems, flowProblems, lineOf } = inspected;
  const problems = [...shapeProblems, ...flowProblems, ...schemaProblems].map(
    ({ path, message }): FileProblem => ({ path: formatPath(path), message, line: lineOf(path) }),
  );
  if (file && problems.length === 0) return file;
  throw describeFileProblems(shapeProblems.length > 0 ? 'VALIDATION_ERROR' : 'INVALID_TREE', problems);
}

/** Says what a value must be, as a sentence. */
function describeFileIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'This field is required.';
  const words = describeIssue(issue);
  return words && `This ${words}.`;
}

function toProblems(issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path as PathSegment[];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownField(path, key) }));
  if (issue.code === 'invalid_key') return [{ path, message: issue.issues[0]?.message ?? issue.message }];
  return [{ path, message: issue.message }];
}

function unknownField(path: PathSegment[], key: string): string {
  if (key === 'branches') return 'Only a step with type: parallel has branches.';
  if (key === 'body') return 'Only a step with type: loop has a body.';
  if (key === 'code' && path.at(-1) === 'processor_config')
    return 'The code of a code block is its prompt: write it there.';
  return 'There is no such field here.';
}
