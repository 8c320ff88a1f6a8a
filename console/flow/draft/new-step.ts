import { deriveStepId } from './edit-steps.ts';
import {
  changeStep,
  eachStep,
  type ParallelStep,
  type SequentialStep,
  type Step,
  stepIdsOf,
} from './steps.ts';

export type StepKind = 'llm' | 'code' | 'passthrough' | 'parallel' | 'loop';

const MAX_ITERATIONS = 100;

/** Creates a step for the tree `steps`. Parallel and loop steps start with passthrough blocks. */
export function newStep(kind: StepKind, steps: Step[]): Step {
  const taken = stepIdsOf(steps);
  if (kind === 'loop') {
    const [loop, inner] = [named('Loop', taken), passthrough(taken)];
    return { type: 'loop', ...loop, body: [inner], max_iterations: MAX_ITERATIONS };
  }
  if (kind === 'parallel') {
    const parallel = named('Parallel', taken);
    const branches = { first: [passthrough(taken)], second: [passthrough(taken)] };
    return { type: 'parallel', ...parallel, branches };
  }
  if (kind === 'passthrough') return passthrough(taken);
  if (kind === 'code')
    return { type: 'sequential', ...named('Code', taken), processor_type: 'code', prompt: 'return input;\n' };
  const model = lastModel(steps);
  return {
    type: 'sequential',
    ...named('Model call', taken),
    processor_type: 'llm',
    ...(model === undefined ? {} : { model }),
    prompt: '{{previous_output}}',
  };
}

/** Wraps a step in a new loop, or in a new parallel step with a second branch. */
export function wrapStep(steps: Step[], stepId: string, kind: 'parallel' | 'loop'): Step[] {
  const taken = stepIdsOf(steps);
  return changeStep(steps, stepId, (step): Step => {
    if (kind === 'loop')
      return { type: 'loop', ...named('Loop', taken), body: [step], max_iterations: MAX_ITERATIONS };
    const branches = { [step.step_id]: [step], other: [passthrough(taken)] };
    return { type: 'parallel', ...named('Parallel', taken), branches };
  });
}

/** Adds a branch with one passthrough block to a parallel step. */
export function addBranch(steps: Step[], stepId: string, name?: string): Step[] {
  const taken = stepIdsOf(steps);
  return changeParallel(steps, stepId, (branches) => {
    const names = new Set(branches.map(([branch]) => branch));
    return [...branches, [name ?? deriveStepId('branch', 'branch', names), [passthrough(taken)]]];
  });
}

/** Renames a branch in its place, and the template variables that read it. */
export function renameBranch(steps: Step[], stepId: string, from: string, to: string): Step[] {
  const renamed = changeParallel(steps, stepId, (branches) =>
    branches.map(([name, inner]) => [name === from ? to : name, inner]),
  );
  return [...eachStep(renamed)].reduce(
    (tree, { step }) => changeStep(tree, step.step_id, (reader) => readBranch(reader, stepId, from, to)),
    renamed,
  );
}

/** Removes a branch with its steps, but never the last one. */
export function removeBranch(steps: Step[], stepId: string, name: string): Step[] {
  return changeParallel(steps, stepId, (branches) =>
    branches.length > 1 ? branches.filter(([branch]) => branch !== name) : branches,
  );
}

/** Moves a branch left (-1) or right (1) by one. */
export function shiftBranch(steps: Step[], stepId: string, name: string, by: -1 | 1): Step[] {
  return changeParallel(steps, stepId, (branches) => {
    const index = branches.findIndex(([branch]) => branch === name);
    const [moved] = branches.slice(index, index + 1);
    const to = index + by;
    return moved && to >= 0 && to < branches.length
      ? branches.toSpliced(index, 1).toSpliced(to, 0, moved)
      : branches;
  });
}

/** Whether `shiftBranch` changes anything. Object keys that are whole numbers always come first, in their order. */
export function canShiftBranch(step: ParallelStep, name: string, by: -1 | 1): boolean {
  const [shifted] = shiftBranch([step], step.step_id, name, by) as [ParallelStep];
  return String(Object.keys(shifted.branches)) !== String(Object.keys(step.branches));
}

type Branch = [name: string, steps: Step[]];

function changeParallel(steps: Step[], stepId: string, change: (branches: Branch[]) => Branch[]): Step[] {
  return changeStep(steps, stepId, (step) =>
    step.type === 'parallel'
      ? ({ ...step, branches: Object.fromEntries(change(Object.entries(step.branches))) } as ParallelStep)
      : step,
  );
}

function readBranch(step: Step, stepId: string, from: string, to: string): Step {
  if (step.type !== 'sequential' || step.processor_type !== 'llm' || !step.prompt) return step;
  const prompt = step.prompt.replace(
    /(\{\{\s*steps\.)([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)/g,
    (text, start: string, id: string, key: string) =>
      id === stepId && key === from ? `${start}${id}.${to}` : text,
  );
  return prompt === step.prompt ? step : { ...step, prompt };
}

function passthrough(taken: Set<string>): SequentialStep {
  return { type: 'sequential', ...named('Pass through', taken), processor_type: 'passthrough' };
}

/** Creates a name and a free step_id, and adds the step_id to `taken`. */
function named(name: string, taken: Set<string>): { step_id: string; name: string } {
  const step_id = deriveStepId(name, 'step', taken);
  taken.add(step_id);
  return { step_id, name };
}

function lastModel(steps: Step[]): string | undefined {
  return [...eachStep(steps)]
    .map(({ step }) => (step.type === 'sequential' ? step.model : undefined))
    .findLast((model) => model !== undefined);
}
