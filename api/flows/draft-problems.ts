import { setImmediate } from 'node:timers/promises';
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findTreeProblems, tooManyBranches, tooManySteps } from '../../flow/find-tree-problems.ts';
import { isObject } from '../../flow/json.ts';
import { BRANCHES_MAX, FLOW_STEPS_MAX } from '../../flow/limits.ts';
import { listBlocks } from '../../flow/plan.ts';
import type { PathSegment } from '../../flow/step-path.ts';
import { requireUsableSchema } from '../../platform/json-schema/require-usable-schema.ts';
import type { OrganizationValidator } from '../../platform/json-schema/validator.ts';
import type { ApiDeps } from '../deps.ts';
import { findSchemaProblems, type PlacedProblem, type Problem, placeProblem } from './file-problems.ts';
import { findBlockProblems, findModelProblems, type KnownModels } from './find-block-problems.ts';
import { FLOW_FILE_MAX_BYTES } from './flow-file.ts';
import { type CodeOf, codeReaderOf, type ReadCode, readCodeOf } from './read-code-of.ts';

/** Checking the schemas of most flows takes less. */
const AT_ONCE_MS = 10;

/** Finds the problems that keep a draft from running, besides those in its JSON Schemas, which are checked when it is written. */
export function findProblems(definition: FlowDefinition, codeOf: CodeOf, registry: KnownModels): Problem[] {
  return [
    ...findTreeProblems(definition),
    ...findBlockProblems(definition, codeOf),
    ...findModelProblems(definition, registry),
  ];
}

/**
 * Throws INVALID_TREE with every problem, RATE_LIMITED when the fair queue is full or too slow, and REQUEST_TIMEOUT
 * when `gone` aborts first. The JSON Schemas of a draft were compiled when it was written.
 */
export async function requireComplete(
  deps: Pick<ApiDeps, 'largeValues' | 'registry'>,
  owner: string,
  draft: FlowDefinition,
  gone: AbortSignal,
): Promise<void> {
  const codeOf = await readCodeOf(codeReaderOf(deps, owner, gone), listBlocks(draft));
  const problems = [...findProblems(draft, codeOf, deps.registry), ...(await findRefusedSchemas(draft))];
  if (problems.length > 0)
    throw treeError(
      problems.map((problem) => placeProblem(draft, problem)),
      (lines) => `The draft is not complete.\n${lines.join('\n')}`,
    );
}

/** Throws INVALID_TREE when no further edit could complete the draft, VALIDATION_ERROR when it is too large. */
export function requireSound(definition: FlowDefinition): void {
  const wrong = findTreeProblems(definition).filter(({ incomplete }) => !incomplete);
  if (wrong.length > 0) throw wrongDraft(definition, wrong);
  if (Buffer.byteLength(JSON.stringify(definition)) > FLOW_FILE_MAX_BYTES)
    throw new ServiceError(
      'VALIDATION_ERROR',
      `The draft stays as it was: a flow can have at most ${FLOW_FILE_MAX_BYTES} bytes.`,
    );
}

/** Makes the error for a draft whose problems no addition could solve. */
export function wrongDraft(definition: FlowDefinition, found: Problem[]): ServiceError {
  const problems = found.map((problem) => placeProblem(definition, problem));
  return treeError(problems, (lines) => `The draft stays as it was: ${lines.join(' ')}`);
}

/**
 * Makes the INVALID_TREE that lists problems with their positions. `say` makes its message from one line for each.
 */
export function treeError(problems: PlacedProblem[], say: (lines: string[]) => string): ServiceError {
  const lines = problems.map(
    ({ path, step_id, message }) => `${path}${step_id ? ` (${step_id})` : ''}: ${message}`,
  );
  return new ServiceError('INVALID_TREE', say(lines), { problems });
}

/**
 * Finds the refused JSON Schemas of a stored definition. The check may take a second, so it lets other requests run every few
 * milliseconds.
 */
export async function findRefusedSchemas(definition: FlowDefinition): Promise<Problem[]> {
  let began = performance.now();
  return findSchemaProblems(definition, async (schema) => {
    if (performance.now() - began > AT_ONCE_MS) {
      await setImmediate();
      began = performance.now();
    }
    requireUsableSchema(schema);
  });
}

/** Throws INVALID_TREE for more steps or branches than a flow can have. Runs before the shape of each is checked. */
export function requireFewSteps(body: unknown): void {
  if (!isObject(body)) return;
  const refuse = (path: PathSegment[], message: string) => {
    throw wrongDraft(body as unknown as FlowDefinition, [{ path, message }]);
  };
  const count = countSteps(body.steps, ['steps'], refuse);
  if (count > FLOW_STEPS_MAX) refuse(['steps'], tooManySteps(count));
}

function countSteps(
  steps: unknown,
  path: PathSegment[],
  refuse: (path: PathSegment[], message: string) => void,
): number {
  if (!Array.isArray(steps)) return 0;
  let count = steps.length;
  for (const [index, step] of steps.entries()) {
    if (!isObject(step)) continue;
    if ('body' in step) count += countSteps(step.body, [...path, index, 'body'], refuse);
    if (!isObject(step.branches)) continue;
    const branches = Object.entries(step.branches);
    const here = [...path, index, 'branches'];
    if (branches.length > BRANCHES_MAX) refuse(here, tooManyBranches(branches.length));
    for (const [name, branch] of branches) count += countSteps(branch, [...here, name], refuse);
  }
  return count;
}

/** Throws INVALID_TREE with every problem of the tree, its blocks and the JSON Schemas in it. */
export async function requireRunnable(
  definition: FlowDefinition,
  validator: OrganizationValidator,
  readCode: ReadCode,
  registry: KnownModels,
): Promise<void> {
  const codeOf = await readCodeOf(readCode, listBlocks(definition));
  const found = [
    ...findProblems(definition, codeOf, registry),
    ...(await findSchemaProblems(definition, validator.requireValidSchema)),
  ];
  if (found.length === 0) return;
  const problems = found.map((problem) => placeProblem(definition, problem));
  throw treeError(problems, (lines) => lines.join('\n'));
}
