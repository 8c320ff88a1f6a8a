// Paths into a tree of steps, as in a flow file: `steps[2].branches.summary[0].prompt`; and ids for new steps.
import type { FlowDefinition, Step } from './definition.ts';

export type PathSegment = string | number;

const PLAIN_KEY = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;

/** Formats a path for people; the file itself is ''. */
export function formatPath(path: PathSegment[]): string {
  return path
    .map((segment, index) => {
      if (typeof segment === 'number') return `[${segment}]`;
      if (!PLAIN_KEY.test(segment)) return `[${JSON.stringify(segment)}]`;
      return index === 0 ? segment : `.${segment}`;
    })
    .join('');
}

/** `depth` is the number of parallel and loop steps around the step. */
type PlacedStep = { step: Step; path: PathSegment[]; depth: number };

/** Yields every step of a flow in tree order, each before the steps inside it. */
export function* eachStep(definition: FlowDefinition): Generator<PlacedStep> {
  yield* eachOf(definition.steps, ['steps'], 0);
}

function* eachOf(steps: Step[], path: PathSegment[], depth: number): Generator<PlacedStep> {
  for (const [index, step] of steps.entries()) {
    const here = [...path, index];
    yield { step, path: here, depth };
    if (step.type === 'loop') yield* eachOf(step.body, [...here, 'body'], depth + 1);
    if (step.type === 'parallel')
      for (const [name, branch] of Object.entries(step.branches))
        yield* eachOf(branch, [...here, 'branches', name], depth + 1);
  }
}

/**
 * Derives an id that is not in `taken` from a step's name, or from `fallback` if the name has no letters or digits. `numbers` has
 * the number to try next for each name; keep it while ids are added to `taken`.
 */
export function deriveStepId(
  name: string,
  fallback: string,
  taken: ReadonlySet<string>,
  numbers = new Map<string, number>(),
): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 48)
    .replace(/^-|-$/g, '');
  const base = words || fallback;
  let id = base;
  let next = numbers.get(base) ?? 2;
  for (; taken.has(id); next += 1) id = `${base}-${next}`;
  numbers.set(base, next);
  return id;
}
