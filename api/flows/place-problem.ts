import type { z } from 'zod';
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { formatPath, type PathSegment } from '../../flow/step-path.ts';
import type { Problem } from './describe-file-problems.ts';
import type { placedProblem } from './schemas.ts';

export type PlacedProblem = z.input<typeof placedProblem>;

/** Longer than any valid name. Invalid names come from callers and may have any length. */
const SHOWN_NAME_MAX_LENGTH = 200;

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

/**
 * Makes the INVALID_TREE that lists problems with their positions. `say` makes its message from one line for each.
 */
export function treeError(
  problems: (PlacedProblem | { path: string; message: string })[],
  say: (lines: string[]) => string,
): ServiceError {
  const lines = problems.map(({ path, message }) => `${path}: ${message}`);
  return new ServiceError('INVALID_TREE', say(lines), { problems });
}

function cut(segment: PathSegment): PathSegment {
  return typeof segment === 'string' ? segment.slice(0, SHOWN_NAME_MAX_LENGTH) : segment;
}
