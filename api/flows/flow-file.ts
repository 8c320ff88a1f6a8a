// Flow files: reads and writes a flow as YAML or JSON, for `weir flow import` and `export` (docs/flow-file.md).
import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument, stringify, visit } from 'yaml';
import type { z } from 'zod';
import type { FlowDefinition, JsonSchema, Step } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findTreeProblems } from '../../flow/find-tree-problems.ts';
import { eachStep, formatPath, type PathSegment } from '../../flow/step-path.ts';
import { describeIssue } from '../http/describe-issue.ts';
import { completeSteps, flowFileSchema } from './written-flow.ts';

export const FLOW_FILE_MAX_BYTES = 2 * 1024 * 1024;
const DEPTH_MAX = 100;
const PROBLEMS_MAX = 20;

export type FlowFileFormat = 'yaml' | 'json';
export type FlowFile = { name: string; slug: string; description?: string; steps: Step[] };
/** `path` is written for people: `steps[2].branches.summary[0].prompt`. `line` counts from 1. */
export type FileProblem = { path: string; message: string; line?: number };
type Problem = { path: PathSegment[]; message: string };
type Parsed = { value: unknown; lineOf(path: PathSegment[]): number };

/**
 * Parses a flow file. Throws VALIDATION_ERROR for a text that is not a flow file and INVALID_TREE for a flow that cannot
 * run, both with `extra.problems: FileProblem[]`. Does not check the JSON Schemas inside: see `findSchemaProblems`.
 */
export function parseFlowFile(text: string, format: FlowFileFormat): FlowFile {
  if (Buffer.byteLength(text) > FLOW_FILE_MAX_BYTES)
    throw new ServiceError('VALIDATION_ERROR', `A flow file must have at most ${FLOW_FILE_MAX_BYTES} bytes.`);
  const { value, lineOf } = format === 'json' ? parseJson(text) : parseYaml(text);
  const refuse = (code: 'VALIDATION_ERROR' | 'INVALID_TREE', problems: Problem[]) => {
    if (problems.length > 0)
      throw refusal(
        code,
        problems
          .slice(0, PROBLEMS_MAX)
          .map(({ path, message }) => ({ path: formatPath(path), message, line: lineOf(path) })),
      );
  };
  refuse('VALIDATION_ERROR', findNonJson(value));
  const parsed = flowFileSchema.safeParse(value, {
    error: describeFileIssue,
  });
  if (!parsed.success) refuse('VALIDATION_ERROR', parsed.error.issues.flatMap(toProblems));
  const { name, slug, description, steps } = parsed.data as z.infer<typeof flowFileSchema>;
  const definition = completeSteps(steps);
  refuse('INVALID_TREE', findTreeProblems(definition));
  return { name, slug, ...(description !== undefined && { description }), ...definition };
}

/** Finds what is wrong with the JSON Schemas of a flow's blocks. `check` throws SCHEMA_INVALID (json-schema/validator.ts). */
export async function findSchemaProblems(
  definition: FlowDefinition,
  check: (schema: JsonSchema) => Promise<void>,
): Promise<FileProblem[]> {
  const problems: FileProblem[] = [];
  for (const { step, path } of eachStep(definition)) {
    if (step.type !== 'sequential') continue;
    for (const field of ['inputSchema', 'outputSchema'] as const) {
      const schema = step[field];
      if (schema === undefined) continue;
      await check(schema).catch((error: unknown) => {
        if (!(error instanceof ServiceError)) throw error;
        problems.push({ path: formatPath([...path, field]), message: error.message });
      });
    }
  }
  return problems;
}

/** Writes a flow as a file that `parseFlowFile` reads as the same flow. */
export function formatFlowFile(file: FlowFile, format: FlowFileFormat): string {
  if (format === 'json') return `${JSON.stringify(file, null, 2)}\n`;
  return stringify(file, { lineWidth: 0, aliasDuplicateObjects: false });
}

function parseJson(text: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refusal('VALIDATION_ERROR', [{ path: '', message: `Not valid JSON: ${(error as Error).message}` }]);
  }
  if (findNonJson(value).length > 0) return { value, lineOf: () => 1 };
  // JSON is YAML too. The YAML parser knows lines, and finds what JSON.parse ignores: keys written twice.
  const { document, lineOf } = readDocument(text);
  const twice = findForbidden(document, lineOf);
  if (twice.length > 0) throw refusal('VALIDATION_ERROR', twice);
  return { value, lineOf: (path) => lineOf(offsetOf(document, path)) };
}

function parseYaml(text: string): Parsed {
  const { document, lineOf } = readDocument(text);
  const syntax = [...document.errors, ...document.warnings].map((error) => ({
    path: '',
    message: error.code === 'RESOURCE_EXHAUSTION' ? 'Nested too deeply.' : error.message,
    line: lineOf(error.pos[0]),
  }));
  const problems = syntax.length > 0 ? syntax : findForbidden(document, lineOf);
  if (problems.length > 0) throw refusal('VALIDATION_ERROR', problems);
  return { value: document.toJS({ maxAliasCount: 0 }), lineOf: (path) => lineOf(offsetOf(document, path)) };
}

function readDocument(text: string): { document: Document; lineOf(offset: number): number } {
  const counter = new LineCounter();
  const document = parseDocument(text, {
    schema: 'core',
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: counter,
  });
  return { document, lineOf: (offset) => counter.linePos(offset).line };
}

/** Finds aliases, and keys that a map has twice (the parser's own check of these takes quadratic time). */
function findForbidden(document: Document, lineOf: (offset: number) => number): FileProblem[] {
  const problems: FileProblem[] = [];
  const report = (node: { range?: [number, number, number] | null }, message: string) =>
    problems.push({ path: '', message, line: lineOf(node.range?.[0] ?? 0) });
  visit(document, {
    Alias: (_, node) => {
      report(node, 'Aliases (*) are not accepted: write the value out.');
    },
    Map: (_, node) => {
      const keys = new Set<unknown>();
      for (const { key } of node.items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) report(key, `The key ${JSON.stringify(key.value)} is there twice.`);
        keys.add(key.value);
      }
    },
  });
  return problems;
}

/** Returns the offset of the deepest part of a path that is in the file; in a map, of its key. */
function offsetOf(document: Document, path: PathSegment[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const segment of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(segment));
      if (!pair || !isScalar(pair.key)) break;
      offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node) && node.items[Number(segment)] !== undefined) {
      node = node.items[Number(segment)];
      offset = (node as { range?: [number, number, number] }).range?.[0] ?? offset;
    } else break;
  }
  return offset;
}

/** Finds values that JSON cannot hold, nesting that is too deep, and `__proto__` keys. */
function findNonJson(value: unknown, path: PathSegment[] = []): Problem[] {
  if (path.length > DEPTH_MAX) return [{ path: path.slice(0, 3), message: 'Nested too deeply.' }];
  if (Array.isArray(value)) return value.flatMap((item, index) => findNonJson(item, [...path, index]));
  if (typeof value === 'number' && !Number.isFinite(value)) return [{ path, message: 'Not a JSON number.' }];
  if (value === null || typeof value !== 'object') return [];
  if (Object.getPrototypeOf(value) !== Object.prototype) return [{ path, message: 'Not a JSON value.' }];
  return Object.entries(value).flatMap(([key, child]) =>
    key === '__proto__'
      ? [{ path: [...path, key], message: 'This key is not accepted.' }]
      : findNonJson(child, [...path, key]),
  );
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

function refusal(code: 'VALIDATION_ERROR' | 'INVALID_TREE', problems: FileProblem[]): ServiceError {
  const shown = problems.slice(0, PROBLEMS_MAX);
  const lines = shown.map(
    ({ path, message, line }) => `${line ? `line ${line}: ` : ''}${path ? `${path}: ` : ''}${message}`,
  );
  return new ServiceError(code, lines.join('\n'), { problems: shown });
}
