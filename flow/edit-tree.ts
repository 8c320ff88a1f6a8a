// Edits of a draft's tree of steps. Each returns a new tree; a NOT_FOUND error lists the existing steps.

import type { FlowDefinition, LoopStep, ParallelStep, SequentialStep, Step } from './definition.ts';
import { ServiceError } from './errors.ts';
import { RESERVED_NAMES } from './find-tree-problems.ts';
import { listInnerSteps } from './plan.ts';
import { deriveStepId, eachStep } from './step-path.ts';

/**
 * `right`: after the target in its sequence, `left`: before it; `bottom`: parallel to the target. Without a target: at the
 * end of the flow, or with `left` at its beginning.
 */
export type StepPlace = { target?: string | undefined; direction: 'left' | 'right' | 'bottom' };

/** A step in the list that holds it; `parent`: the parallel or loop step around that list. */
type Spot = { steps: Step[]; index: number; parent: ParallelStep | LoopStep | undefined };

const IDS_NAMED_MAX = 50;

/** Adds a block under an id made from its name. */
export function addBlock(
  definition: FlowDefinition,
  block: Omit<SequentialStep, 'step_id' | 'type'>,
  place: StepPlace,
): { definition: FlowDefinition; stepId: string } {
  const edited = structuredClone(definition);
  const stepId = deriveStepId(block.name, block.processor_type, idsOf(edited));
  insert(edited, { type: 'sequential', step_id: stepId, ...block }, place);
  return { definition: edited, stepId };
}

/** Replaces a step by the result of `change`. */
export function changeStep(
  definition: FlowDefinition,
  stepId: string,
  change: (step: Step) => Step,
): FlowDefinition {
  const edited = structuredClone(definition);
  const { steps, index } = locate(edited, stepId);
  steps[index] = change(steps[index] as Step);
  return edited;
}

/** Puts a step into a loop of its own; if the step is a loop, changes how it loops. */
export function setLoop(
  definition: FlowDefinition,
  stepId: string,
  loop: Pick<LoopStep, 'max_iterations' | 'until'>,
): FlowDefinition {
  return changeStep(definition, stepId, (step) => {
    if (step.type === 'loop') {
      const { type, step_id, name, body } = step;
      return { type, step_id, name, body, ...loop };
    }
    const step_id = deriveStepId('loop', 'loop', idsOf(definition));
    return { type: 'loop', step_id, name: 'Loop', body: [step], ...loop };
  });
}

/** Renames branches of a parallel step, which keep their order. `names` maps old names to new ones. */
export function renameBranches(step: Step, names: { [branch: string]: string }): Step {
  if (step.type !== 'parallel')
    throw new ServiceError('VALIDATION_ERROR', `${step.step_id} is not a parallel step: it has no branches.`);
  const known = Object.keys(step.branches);
  const unknown = Object.keys(names).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new ServiceError(
      'VALIDATION_ERROR',
      `${step.step_id} has no branch ${JSON.stringify(unknown)}. It has: ${known.join(', ')}.`,
    );
  const renamed = Object.entries(step.branches).map(
    ([name, steps]) => [Object.hasOwn(names, name) ? (names[name] as string) : name, steps] as const,
  );
  if (new Set(renamed.map(([name]) => name)).size < known.length)
    throw new ServiceError('VALIDATION_ERROR', `Two branches of ${step.step_id} would have the same name.`);
  return { ...step, branches: Object.fromEntries(renamed) };
}

/** Replaces a loop by its body. */
export function removeLoop(definition: FlowDefinition, stepId: string): FlowDefinition {
  const edited = structuredClone(definition);
  const { steps, index } = locate(edited, stepId);
  const step = steps[index] as Step;
  if (step.type !== 'loop') throw new ServiceError('VALIDATION_ERROR', `${stepId} is not a loop step.`);
  steps.splice(index, 1, ...step.body);
  return edited;
}

/** Removes a step and its inner steps, and branches, parallel and loop steps that become empty. */
export function removeStep(definition: FlowDefinition, stepId: string): FlowDefinition {
  const edited = structuredClone(definition);
  take(edited, stepId);
  return { ...edited, steps: withoutEmpty(edited.steps) };
}

/** Moves a step, and removes branches, parallel and loop steps that become empty. */
export function moveStep(definition: FlowDefinition, stepId: string, place: StepPlace): FlowDefinition {
  const edited = structuredClone(definition);
  const step = take(edited, stepId);
  if (place.target !== undefined && idsOf({ steps: [step] }).has(place.target))
    throw new ServiceError('VALIDATION_ERROR', `${stepId} cannot be moved next to or into itself.`);
  insert(edited, step, place);
  return { ...edited, steps: withoutEmpty(edited.steps) };
}

function take(edited: FlowDefinition, stepId: string): Step {
  const { steps, index } = locate(edited, stepId);
  return steps.splice(index, 1)[0] as Step;
}

function insert(edited: FlowDefinition, step: Step, { target: targetId, direction }: StepPlace): void {
  if (targetId === undefined) {
    if (direction === 'left') edited.steps.unshift(step);
    else edited.steps.push(step);
    return;
  }
  const { steps, index, parent } = locate(edited, targetId);
  const target = steps[index] as Step;
  if (direction === 'left') steps.splice(index, 0, step);
  else if (direction === 'right') steps.splice(index + 1, 0, step);
  else if (target.type === 'parallel') addBranch(target, step);
  else if (parent?.type === 'parallel' && steps.length === 1) addBranch(parent, step);
  else {
    const taken = idsOf(edited).add(step.step_id);
    const around: ParallelStep = {
      type: 'parallel',
      step_id: deriveStepId('parallel', 'parallel', taken),
      name: 'Parallel',
      branches: { [target.step_id]: [target], [step.step_id]: [step] },
    };
    steps[index] = around;
  }
}

/** Adds a branch named like its step, with a number if that name is taken. */
function addBranch(parallel: ParallelStep, step: Step): void {
  const taken = new Set(Object.keys(parallel.branches));
  let name = step.step_id;
  for (let next = 2; taken.has(name); next += 1) name = `${step.step_id}-${next}`;
  parallel.branches[name] = [step];
}

function withoutEmpty(steps: Step[]): Step[] {
  return steps.flatMap((step) => {
    if (step.type === 'sequential') return step;
    if (step.type === 'loop') {
      const body = withoutEmpty(step.body);
      return body.length > 0 ? { ...step, body } : [];
    }
    const branches = Object.entries(step.branches)
      .map(([name, branch]) => [name, withoutEmpty(branch)] as const)
      .filter(([, branch]) => branch.length > 0);
    return branches.length > 0 ? { ...step, branches: Object.fromEntries(branches) } : [];
  });
}

function locate(definition: FlowDefinition, stepId: string): Spot {
  const spot = find(definition.steps, stepId, undefined);
  if (spot) return spot;
  const ids = [...eachStep(definition)].map(({ step }) => step.step_id);
  const named = ids.length > 0 ? `Its steps are ${ids.slice(0, IDS_NAMED_MAX).join(', ')}.` : 'It has none.';
  throw new ServiceError('NOT_FOUND', `The flow’s draft has no step ${JSON.stringify(stepId)}. ${named}`);
}

function find(steps: Step[], stepId: string, parent: Spot['parent']): Spot | undefined {
  const index = steps.findIndex(({ step_id }) => step_id === stepId);
  if (index >= 0) return { steps, index, parent };
  for (const step of steps) {
    if (step.type === 'sequential') continue;
    for (const inner of listInnerSteps<Step>(step)) {
      const spot = find(inner, stepId, step);
      if (spot) return spot;
    }
  }
  return undefined;
}

/** Lists the ids of a tree's steps and the reserved ids. */
function idsOf(definition: FlowDefinition): Set<string> {
  return new Set([...RESERVED_NAMES, ...[...eachStep(definition)].map(({ step }) => step.step_id)]);
}
