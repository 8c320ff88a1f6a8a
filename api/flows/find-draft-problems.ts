import type { z } from 'zod';
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findTreeProblems } from '../../flow/find-tree-problems.ts';
import { listBlocks } from '../../flow/plan.ts';
import type { ApiDeps } from '../deps.ts';
import type { Problem } from './describe-file-problems.ts';
import { findBlockProblems } from './find-block-problems.ts';
import { findRefusedSchemas } from './find-refused-schemas.ts';
import { FLOW_FILE_MAX_BYTES } from './flow-file.ts';
import { type PlacedProblem, placeProblem, treeError } from './place-problem.ts';
import { codeReaderOf, type ReadCode, readCodeOf } from './read-code-of.ts';
import type { draftProblems } from './schemas.ts';

/** Lists the problems that keep a draft from running, with positions for editors. */
export async function findPlacedProblems(
  definition: FlowDefinition,
  readCode: ReadCode,
): Promise<PlacedProblem[]> {
  const codeOf = await readCodeOf(readCode, listBlocks(definition));
  const found = [...findTreeProblems(definition), ...findBlockProblems(definition, codeOf)];
  return found.map((problem) => placeProblem(definition, problem));
}

/** Lists the same problems with paths for people alone. */
export async function findDraftProblems(
  definition: FlowDefinition,
  readCode: ReadCode,
): Promise<z.infer<typeof draftProblems>> {
  return (await findPlacedProblems(definition, readCode)).map(({ path, message }) => ({ path, message }));
}

/**
 * Throws INVALID_TREE with every problem, RATE_LIMITED when the fair queue is full or too slow, and REQUEST_TIMEOUT
 * when `gone` aborts first. The JSON Schemas of a draft were compiled when it was written.
 */
export async function requireComplete(
  deps: Pick<ApiDeps, 'largeValues'>,
  owner: string,
  draft: FlowDefinition,
  gone: AbortSignal,
): Promise<void> {
  const placed = await findPlacedProblems(draft, codeReaderOf(deps, owner, gone));
  const refused = await findRefusedSchemas(deps.largeValues.work, owner, draft, () => gone);
  const problems = [...placed, ...refused.map((problem) => placeProblem(draft, problem))];
  if (problems.length > 0)
    throw treeError(problems, (lines) => `The draft is not complete.\n${lines.join('\n')}`);
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
