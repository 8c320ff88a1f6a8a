import type { Step } from './definition.ts';
import { blockKey, listInnerSteps } from './plan.ts';

/** Keys of blocks, and prefixes of keys: those of blocks in a loop whose iterations are not known. */
export type BlockKeys = { keys: string[]; prefixes: string[] };

/** Lists the keys that the blocks of some steps have in these `iterations` of the loops around the steps. */
export function listKeysOfSteps(
  steps: Step[],
  wanted: ReadonlySet<Step>,
  iterations: readonly number[],
): BlockKeys {
  const found: BlockKeys = { keys: [], prefixes: [] };

  /** `depth`: how many loops are around the step, without those of a wanted one, to which it may belong. */
  function visit(step: Step, depth: number, isOfWanted: boolean, isInLoopOfWanted: boolean): void {
    const isFound = isOfWanted || wanted.has(step);
    if (step.type === 'sequential') {
      const outside = iterations.slice(0, depth);
      const key = blockKey(step.step_id, outside);
      if (isFound && isInLoopOfWanted) found.prefixes.push(`${key}${outside.length > 0 ? '.' : '#'}`);
      else if (isFound) found.keys.push(key);
      return;
    }
    const isLoop = step.type === 'loop';
    const innerDepth = isLoop && !isFound ? depth + 1 : depth;
    for (const inner of listInnerSteps(step).flat())
      visit(inner, innerDepth, isFound, isInLoopOfWanted || (isLoop && isFound));
  }

  for (const step of steps) visit(step, 0, false, false);
  return found;
}
