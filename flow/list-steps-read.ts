// Which outputs of earlier steps a block can see and which it reads (docs/blocks.md, Outputs of earlier steps).
import type { Block, Step } from './definition.ts';
import { blockKey, listInnerSteps, type PlannedStep } from './plan.ts';
import { listTemplateSteps } from './template.ts';

/** Keys of blocks, and prefixes of keys: those of blocks in a loop whose iterations are not known. */
export type BlockKeys = { keys: string[]; prefixes: string[] };

/** Steps by their step_id; `all`: every step that has ended before, since the code does not name them one by one. */
export type StepsRead = string[] | 'all';

const ACCESS = String.raw`\s*(?:\?\.\s*)?\[\s*(?:'([\w-]+)'|"([\w-]+)")\s*\]|\s*\??\.\s*([A-Za-z_$][\w$]*)`;
/** The variable `outputs`, not a member of that name, with the name of the step that it is asked for. */
const MENTION = String.raw`(?<![\w$]|(?<!\.\.)\.)outputs(?![\w$])(?:${ACCESS})?`;
const MENTIONS = new RegExp(MENTION, 'g');
const OWN_VARIABLE = /\b(?:const|let|var|function|class)\s+outputs\b/;

/** Lists the steps whose outputs a block may read, perhaps more than it does. */
export function listStepsRead({ processor_type, prompt = '' }: Block): StepsRead {
  if (processor_type === 'llm') return listTemplateSteps(prompt);
  return processor_type === 'code' ? listMentioned(prompt) : [];
}

function listMentioned(source: string): StepsRead {
  const names = [...source.matchAll(MENTIONS)].map(
    ([, single, double, dotted]) => single ?? double ?? dotted,
  );
  // A member that every object has may look at any step: outputs.hasOwnProperty(name).
  const named = names.filter((name): name is string => name !== undefined && !(name in Object.prototype));
  // A variable of its own may be declared in an inner function, a comment or a text: names are read all the same.
  return named.length === names.length || OWN_VARIABLE.test(source) ? [...new Set(named)] : 'all';
}

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

/**
 * Lists the steps whose outputs a step may read. A visible step ends before the step begins, in the same iteration or
 * outside its loops. Steps inside visible steps and parallel branches are not visible. Undefined for an unknown step.
 * Pass the step object if step_ids may repeat, otherwise its step_id.
 */
export function listVisibleSteps<S extends PlannedStep>(steps: S[], sought: string | S): S[] | undefined {
  for (const [index, step] of steps.entries()) {
    const before = steps.slice(0, index);
    if (step === sought || step.step_id === sought) return before;
    for (const inner of listInnerSteps(step)) {
      const visible = listVisibleSteps(inner, sought);
      if (visible) return [...before, ...visible];
    }
  }
  return undefined;
}
