import { NAME_MAX_LENGTH, STEP_ID_PATTERN } from '../../flow/limits.ts';
import type { PathSegment } from '../../flow/step-path.ts';

/**
 * Copies a flow file as it was written, with a passthrough block in place of each step that has a problem at one of
 * `paths`, so that the other steps can be checked where they are. It keeps its names, by which others may ask for its output.
 */
export function replaceWrongSteps(file: unknown, paths: PathSegment[][]): unknown {
  const steps = (file as { steps?: unknown } | null)?.steps;
  const copy = structuredClone({ name: 'Flow', slug: 'flow', steps });
  for (const path of paths) {
    const place = path.slice(0, lengthToStep(path));
    const index = place.pop();
    const list = place.reduce<unknown>(
      (value, segment) => (value as Record<PathSegment, unknown>)?.[segment],
      copy,
    );
    if (index !== undefined && Array.isArray(list))
      list[Number(index)] = passthroughLike(list[Number(index)]);
  }
  return copy;
}

function passthroughLike(step: unknown): object {
  const { step_id, name } = (step ?? {}) as { step_id?: unknown; name?: unknown };
  const hasName = typeof name === 'string' && name !== '' && name.length <= NAME_MAX_LENGTH;
  return {
    processor_type: 'passthrough',
    ...(typeof step_id === 'string' && STEP_ID_PATTERN.test(step_id) && { step_id }),
    ...(hasName && !name.includes('\0') && { name }),
  };
}

/** Returns how much of a path leads to the innermost step on it; 0 when there is none. */
function lengthToStep(path: PathSegment[]): number {
  let length = 0;
  for (let at = 0; ; ) {
    const list = path[at] === 'branches' && at > 0 ? at + 1 : at;
    const isList = at === 0 ? path[0] === 'steps' : path[at] === 'body' || path[at] === 'branches';
    if (!isList || typeof path[list + 1] !== 'number') return length;
    length = list + 2;
    at = length;
  }
}
