// The step plan: the part of a flow that the workflow carries.
import type { Block, FlowDefinition, LoopStep, ProcessorType, Step } from './definition.ts';

/** A step without its prompts and schemas: small enough for a workflow's input. Index = position in the plan. */
export type PlannedBlock = {
  type: 'sequential';
  step_id: string;
  name: string;
  processor_type: ProcessorType;
};
export type PlannedParallel = {
  type: 'parallel';
  step_id: string;
  branches: { [branch: string]: PlannedStep[] };
};
export type PlannedLoop = {
  type: 'loop';
  step_id: string;
  body: PlannedStep[];
} & Pick<LoopStep, 'max_iterations' | 'until'>;
export type PlannedStep = PlannedBlock | PlannedParallel | PlannedLoop;

/** Makes the plan of a flow: its top-level steps in order; a parallel or loop step is one entry. */
export function toPlan(steps: Step[]): PlannedStep[] {
  return steps.map((step) => {
    const { step_id } = step;
    if (step.type === 'sequential')
      return { type: step.type, step_id, name: step.name, processor_type: step.processor_type };
    if (step.type === 'loop') {
      const { max_iterations, until } = step;
      return { type: step.type, step_id, body: toPlan(step.body), max_iterations, ...(until && { until }) };
    }
    const branches = Object.entries(step.branches).map(([name, branch]) => [name, toPlan(branch)] as const);
    return { type: step.type, step_id, branches: Object.fromEntries(branches) };
  });
}

/** Lists the lists of steps inside a step. */
export function listInnerSteps<S extends PlannedStep>(step: S): S[][] {
  if (step.type === 'parallel') return Object.values(step.branches) as S[][];
  return step.type === 'loop' ? [step.body as S[]] : [];
}

/** Lists every block of a flow in tree order. */
export function listBlocks(definition: FlowDefinition): Block[] {
  const collect = (steps: Step[]): Block[] =>
    steps.flatMap((step) => (step.type === 'sequential' ? [step] : listInnerSteps(step).flatMap(collect)));
  return collect(definition.steps);
}

/** Counts the most block executions that steps may have, by the `max_iterations` of loops. */
export function countMostRuns(steps: PlannedStep[]): number {
  return steps.reduce((sum, step) => {
    if (step.type === 'sequential') return sum + 1;
    const inside = countMostRuns(listInnerSteps(step).flat());
    return sum + (step.type === 'loop' ? step.max_iterations * inside : inside);
  }, 0);
}

/** Lists the blocks that run beside others: those inside parallel steps. */
export function listParallelBlocks(steps: PlannedStep[], inParallel = false): PlannedBlock[] {
  return steps.flatMap((step) => {
    if (step.type === 'sequential') return inParallel ? [step] : [];
    if (step.type === 'loop') return listParallelBlocks(step.body, inParallel);
    return Object.values(step.branches).flatMap((branch) => listParallelBlocks(branch, true));
  });
}

/** Returns the iterations that a key made by `blockKey` has. */
export function iterationsOf(key: string): number[] {
  const [, iterations] = key.split('#');
  return iterations === undefined ? [] : iterations.split('.').map(Number);
}

/** Names one block execution within a run: `stepId`, or in loops `stepId#2.0` with the iteration of each loop. */
export function blockKey(stepId: string, iterations: number[]): string {
  return iterations.length > 0 ? `${stepId}#${iterations.join('.')}` : stepId;
}
