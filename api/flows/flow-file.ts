// Flow files: reads and writes a flow as YAML or JSON, for `weir flow` (docs/flow-file.md).
import { Document, visit } from 'yaml';
import type { z } from 'zod';
import { type FlowDefinition, PROCESSOR_TYPES, type Step } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findNearestName } from '../../flow/find-nearest-name.ts';
import { findTreeProblems, RESERVED_NAMES } from '../../flow/find-tree-problems.ts';
import { isObject } from '../../flow/json.ts';
import { CONTROL_CHARACTERS } from '../../flow/limits.ts';
import { deriveStepId, formatPath, type PathSegment } from '../../flow/step-path.ts';
import { createRegistry } from '../../platform/models/registry.ts';
import { describeIssue } from '../http/zod-input.ts';
import { findNotes } from './draft-notes.ts';
import {
  type CheckSchema,
  describeFileProblems,
  type FileProblem,
  findSchemaProblems,
  type Problem,
  placeProblem,
} from './file-problems.ts';
import { findBlockProblems, findModelProblems } from './find-block-problems.ts';
import { findNonJson, parseText } from './parse-text.ts';
import { readCodeHere } from './read-code-here.ts';
import { flowFileSchema, type WrittenStep } from './written-flow.ts';

/** The step ids in use, and the next number to try for each name. */
type StepIds = { taken: Set<string>; numbers: Map<string, number> };

type Members = { [key: string]: unknown };

/** Longer unknown fields are not compared with the known ones. */
const KEY_MAX_LENGTH = 40;
const SHIPPED = createRegistry();
const MAY_DIFFER = 'The service decides: it may have other models.';
const STEP_TYPES = ['sequential', 'parallel', 'loop'];

const STEP_FIELDS = [
  'type',
  'step_id',
  'name',
  'processor_type',
  'model',
  'prompt',
  'inputSchema',
  'outputSchema',
  'processor_config',
  'branches',
  'body',
  'max_iterations',
  'until',
];

export const FLOW_FILE_MAX_BYTES = 2 * 1024 * 1024;
/** Twice the depth of steps, each of which may need two fixes. */
const MENDING_ROUNDS_MAX = 20;

export type FlowFileFormat = 'yaml' | 'json';
export type FlowFile = { name: string; slug: string; description?: string; steps: Step[] };
type DraftFile = { file: FlowFile; missing: FileProblem[]; notes: FileProblem[] };
type Inspected = {
  /** Absent when the shape is wrong. */
  file?: FlowFile;
  /** The steps with a valid shape, at their positions in the file; [] when there are none. */
  definition: FlowDefinition;
  shapeProblems: Problem[];
  /** `incomplete`: something is still missing, as in an unfinished draft. */
  flowProblems: (Problem & { incomplete: boolean })[];
  /** By the list of models that Weir ships. A service may have another. */
  modelProblems: Problem[];
  lineOf(path: PathSegment[]): number;
};

/**
 * Parses a flow file. Throws VALIDATION_ERROR for a text that is not a flow file and INVALID_TREE for a flow that
 * cannot run, both with all problems in line order as `extra.problems: FileProblem[]`. Does not check the JSON
 * Schemas inside: see `parseUsableFlowFile`.
 */
export function parseFlowFile(text: string, format: FlowFileFormat): FlowFile {
  return readSound(inspect(text, format), []);
}

/** Parses a flow file as `parseFlowFile` does and checks its JSON Schemas too. `check` throws SCHEMA_INVALID. */
export async function parseUsableFlowFile(
  text: string,
  format: FlowFileFormat,
  check: CheckSchema,
): Promise<FlowFile> {
  const inspected = inspect(text, format);
  return readSound(inspected, await findSchemaProblems(inspected.definition, check));
}

/**
 * Parses a flow file that may be unfinished, like a draft: `missing` lists what the flow needs before it can run, `notes`
 * what works badly, or works only on a service with other models than Weir ships.
 * When no addition could complete it, throws as `parseFlowFile` does, with the missing parts too.
 */
export function parseDraftFile(text: string, format: FlowFileFormat): DraftFile {
  return requireDraft(inspect(text, format), []);
}

/** Parses a flow file as `parseDraftFile` does and checks its JSON Schemas too. `check` throws SCHEMA_INVALID. */
export async function parseUsableDraftFile(
  text: string,
  format: FlowFileFormat,
  check: CheckSchema,
): Promise<DraftFile> {
  const inspected = inspect(text, format);
  return requireDraft(inspected, await findSchemaProblems(inspected.definition, check));
}

/** Writes a flow as a file that `parseFlowFile` reads as the same flow. */
export function formatFlowFile(file: FlowFile, format: FlowFileFormat): string {
  if (format === 'json') return `${JSON.stringify(file, null, 2)}\n`;
  return toYaml(file);
}

/** A block scalar of YAML loses lines of a text that has nothing else. */
const BLANK = /^\s+$/;

/** Writes a JSON value as YAML that reads as the same value. */
export function toYaml(json: unknown): string {
  const document = new Document(json, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, scalar) {
      const { value } = scalar;
      if (typeof value === 'string' && (BLANK.test(value) || value.search(CONTROL_CHARACTERS) >= 0))
        scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0 });
}

function inspect(text: string, format: FlowFileFormat): Inspected {
  if (Buffer.byteLength(text) > FLOW_FILE_MAX_BYTES)
    throw new ServiceError('VALIDATION_ERROR', `A flow file must have at most ${FLOW_FILE_MAX_BYTES} bytes.`);
  const { value, problems, lineOf } = parseText(text, format);
  const { data, found, isComplete } = readShape(value, problems);
  const definition = data ? completeSteps(data.steps) : { steps: [] };
  const isNew = isNotAmong(found);
  const blockProblems = findBlockProblems(definition, readCodeHere).map((problem) => ({
    ...problem,
    incomplete: true,
  }));
  const flowProblems = [...findTreeProblems(definition), ...blockProblems].filter(isNew);
  const modelProblems = findModelProblems(definition, SHIPPED).filter(isNew);
  const inspected = { definition, shapeProblems: found, flowProblems, modelProblems, lineOf };
  if (!data || !isComplete) return inspected;
  const { name, slug, description } = data;
  const file = { name, slug, ...(description !== undefined && { description }), ...definition };
  return { ...inspected, file };
}

/**
 * Adds the problems of the file's shape to `known` and repairs a copy, until the rest can be checked for other
 * problems. One repair may reveal others, such as problems inside a step whose type was misspelt.
 */
function readShape(value: unknown, known: Problem[]) {
  const found = [...known, ...findNonJson(value)];
  mendFlowFile(value, found.slice(known.length));
  for (let round = 0; round < MENDING_ROUNDS_MAX; round++) {
    const { data, error } = parseShape(
      round === 0 ? value : { name: 'Flow', slug: 'flow', steps: stepsOf(value) },
    );
    if (data) return { data, found, isComplete: found.length === 0 };
    const all = error?.issues.flatMap(toProblems) ?? [];
    const issues = all.filter(isNotAmong(all.flatMap(fieldMeant)));
    for (const issue of issues.filter(isNotAmong(found))) found.push(issue);
    mendFlowFile(value, issues);
  }
  return { data: undefined, found, isComplete: false };
}

function stepsOf(file: unknown): unknown {
  const steps = (file as { steps?: unknown } | null)?.steps;
  return Array.isArray(steps) ? steps : [];
}

/** Returns fields that were present under a wrong name or are optional, so that they are not reported as missing. */
function fieldMeant({ path, message }: Problem): Problem[] {
  const step = path.slice(0, -1);
  const key = String(path.at(-1));
  const meant = key === 'branches' || key === 'body' ? 'processor_type' : findFieldMeant(key);
  return meant && meant !== key ? [{ path: [...step, meant], message }] : [];
}

function isNotAmong(problems: Problem[]): (problem: Problem) => boolean {
  const paths = new Set(problems.map(({ path }) => JSON.stringify(path)));
  return ({ path }) => !paths.has(JSON.stringify(path));
}

function parseShape(value: unknown) {
  const { data, error } = flowFileSchema.safeParse(value, { error: describeFileIssue });
  return { data: data as z.infer<typeof flowFileSchema> | undefined, error };
}

function requireDraft(inspected: Inspected, schemaProblems: Problem[]): DraftFile {
  const { shapeProblems, flowProblems, modelProblems } = inspected;
  const isWrong =
    shapeProblems.length + schemaProblems.length > 0 || flowProblems.some(({ incomplete }) => !incomplete);
  const file = readSound(
    isWrong ? inspected : { ...inspected, flowProblems: [], modelProblems: [] },
    schemaProblems,
  );
  const modelNotes = modelProblems.map(({ path, message }) => ({
    path,
    message: `${message} ${MAY_DIFFER}`,
  }));
  const notes = [...findNotes(file, readCodeHere), ...modelNotes];
  const toFile = toFileProblem(inspected);
  return { file, missing: flowProblems.map(toFile), notes: notes.map(toFile) };
}

function readSound(inspected: Inspected, schemaProblems: Problem[]): FlowFile {
  const { file, shapeProblems, flowProblems, modelProblems } = inspected;
  // A schema with a problem inside was changed, and may have no meaning now.
  const isSound = isNotAmong(
    shapeProblems.flatMap(({ path, message }) =>
      path.map((_, end) => ({ path: path.slice(0, end + 1), message })),
    ),
  );
  const problems = [
    ...shapeProblems,
    ...flowProblems,
    ...modelProblems,
    ...schemaProblems.filter(isSound),
  ].map(toFileProblem(inspected));
  if (file && problems.length === 0) return file;
  throw describeFileProblems(shapeProblems.length > 0 ? 'VALIDATION_ERROR' : 'INVALID_TREE', problems);
}

function toFileProblem({ definition, lineOf }: Inspected): (problem: Problem) => FileProblem {
  return ({ path, message, line = lineOf(path) }) => {
    const { step_id } = placeProblem(definition, { path, message });
    return { path: formatPath(path), message, line, step_id };
  };
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

/** Says what is wrong with an unknown field of the object at `path`, and which field was probably meant. */
export function unknownField(path: PathSegment[], key: string): string {
  if (key === 'branches') return 'Only a step with type: parallel has branches.';
  if (key === 'body') return 'Only a step with type: loop has a body.';
  if (key === 'code') return 'The code of a code block is its prompt: write it there.';
  const meant = typeof path.at(-1) === 'number' ? findFieldMeant(key) : undefined;
  return `This field is not allowed here.${meant && meant !== key ? ` Did you mean ${meant}?` : ''}`;
}

/** Finds the known field that an unknown field of a step was probably meant to be. */
function findFieldMeant(key: string): string | undefined {
  if (key.length > KEY_MAX_LENGTH) return undefined;
  return key === 'code' ? 'prompt' : findNearestName(key, STEP_FIELDS);
}

/**
 * Repairs the shape of a flow file in place, so that all other problems are found in the same round: replaces
 * misspelt fields and types by the nearest valid ones, and removes what has no meaning. A step keeps its other fields
 * and its names, which other steps may refer to.
 */
function mendFlowFile(file: unknown, problems: Problem[]): void {
  for (const { path } of problems) mendAt(file, path);
}

function mendAt(file: unknown, path: PathSegment[]): void {
  const key = path.at(-1);
  const parent = valueAt(file, path.slice(0, -1));
  if (key === undefined || parent === null || typeof parent !== 'object') return;
  const isInStep = isStep(path.slice(0, -1));
  if (isStep(path)) (parent as unknown[])[Number(key)] = { processor_type: 'passthrough' };
  else if (Array.isArray(parent)) parent[Number(key)] = null;
  else if (isInStep) mendField(parent as Members, String(key));
  else if (path.at(-2) === 'branches' && isStep(path.slice(0, -2))) (parent as Members)[key] = [];
  else if (key === 'code' && path.at(-2) === 'processor_config') {
    mendField(valueAt(file, path.slice(0, -2)) as Members, 'code', (parent as Members).code);
    delete (parent as Members).code;
  } else if (Object.hasOwn(parent, key)) delete (parent as Members)[key];
  else if (path.length > 1) mendAt(file, path.slice(0, -1));
}

function valueAt(file: unknown, path: PathSegment[]): unknown {
  return path.reduce<unknown>((value, segment) => (value as Members | null | undefined)?.[segment], file);
}

function mendField(step: Members, key: string, value = step[key]): void {
  delete step[key];
  const isNested = step.type === 'parallel' || step.type === 'loop';
  if (key === 'type') step.type = guessType(step, value);
  if (key === 'processor_type' && !isNested) step.processor_type = guessProcessorType(step, value);
  if (key === 'branches' && step.type !== 'loop') {
    step.type = 'parallel';
    step.branches = isObject(value) ? value : {};
  }
  if (key === 'body' && step.type !== 'parallel') {
    step.type = 'loop';
    step.body = Array.isArray(value) ? value : [];
  }
  const meant = STEP_FIELDS.includes(key) ? undefined : findFieldMeant(key);
  if (meant && !Object.hasOwn(step, meant)) step[meant] = value;
}

function guessType(step: Members, value: unknown): string {
  if ('branches' in step) return 'parallel';
  if ('body' in step) return 'loop';
  if (PROCESSOR_TYPES.some((known) => known === value)) step.processor_type ??= value;
  return (typeof value === 'string' && findNearestName(value.toLowerCase(), STEP_TYPES)) || 'sequential';
}

function guessProcessorType({ model }: Members, value: unknown): string {
  const nearest = typeof value === 'string' && findNearestName(value.toLowerCase(), [...PROCESSOR_TYPES]);
  return nearest || (model === undefined ? 'passthrough' : 'llm');
}

function isStep(path: PathSegment[]): boolean {
  let at = 0;
  while (at < path.length) {
    const isList = at === 0 ? path[0] === 'steps' : path[at] === 'body' || path[at] === 'branches';
    const index = path[at] === 'branches' && at > 0 ? at + 2 : at + 1;
    if (!isList || typeof path[index] !== 'number') return false;
    at = index + 1;
  }
  return path.length > 0;
}

/**
 * Fills in omitted fields: `step_id` from the name, or from the type without a name, unique in the flow and stable
 * for the same steps; `name` from the step_id.
 */
export function completeSteps(written: WrittenStep[]): FlowDefinition {
  const ids = { taken: new Set<string>(RESERVED_NAMES), numbers: new Map<string, number>() };
  collectIds(written, ids.taken);
  return { steps: complete(written, ids) };
}

function collectIds(written: WrittenStep[], taken: Set<string>): void {
  for (const step of written) {
    if (step.step_id !== undefined) taken.add(step.step_id);
    if ('body' in step) collectIds(step.body, taken);
    if ('branches' in step) for (const branch of Object.values(step.branches)) collectIds(branch, taken);
  }
}

function complete(written: WrittenStep[], ids: StepIds): Step[] {
  return written.map((step) => {
    const step_id = step.step_id ?? deriveId(step, ids);
    const named = { type: step.type, step_id, name: step.name ?? step_id };
    if ('body' in step) return { ...step, ...named, type: step.type, body: complete(step.body, ids) };
    if (!('branches' in step)) return { ...step, ...named, type: step.type };
    const branches = Object.entries(step.branches).map(([name, steps]) => [name, complete(steps, ids)]);
    return { ...step, ...named, type: step.type, branches: Object.fromEntries(branches) };
  });
}

function deriveId(step: WrittenStep, { taken, numbers }: StepIds): string {
  const fallback = 'processor_type' in step ? step.processor_type : step.type;
  const id = deriveStepId(step.name ?? '', fallback, taken, numbers);
  taken.add(id);
  return id;
}
