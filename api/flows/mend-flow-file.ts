import { PROCESSOR_TYPES } from '../../flow/definition.ts';
import { findNearestName } from '../../flow/find-nearest-name.ts';
import { isObject } from '../../flow/is-object.ts';
import type { PathSegment } from '../../flow/step-path.ts';
import type { Problem } from './describe-file-problems.ts';

type Members = { [key: string]: unknown };

/** Longer unknown fields are not compared with the known ones. */
const KEY_MAX_LENGTH = 40;
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

/** Finds the known field that an unknown field of a step was probably meant to be. */
export function findFieldMeant(key: string): string | undefined {
  if (key.length > KEY_MAX_LENGTH) return undefined;
  return key === 'code' ? 'prompt' : findNearestName(key, STEP_FIELDS);
}

/**
 * Repairs the shape of a flow file in place, so that all other problems are found in the same round: replaces
 * misspelt fields and types by the nearest valid ones, and removes what has no meaning. A step keeps its other fields
 * and its names, which other steps may refer to.
 */
export function mendFlowFile(file: unknown, problems: Problem[]): void {
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

/** Whether a path leads to a step. */
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
