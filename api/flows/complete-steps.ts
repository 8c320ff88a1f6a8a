import type { FlowDefinition, Step } from '../../flow/definition.ts';
import { deriveStepId } from '../../flow/derive-step-id.ts';
import { RESERVED_NAMES } from '../../flow/find-tree-problems.ts';
import type { WrittenStep } from './written-flow.ts';

/**
 * Fills in omitted fields: `step_id` from the name, or from the type without a name, unique in the flow and stable
 * for the same steps; `name` from the step_id.
 */
export function completeSteps(written: WrittenStep[]): FlowDefinition {
  const ids = { taken: new Set<string>(RESERVED_NAMES), numbers: new Map<string, number>() };
  collectIds(written, ids.taken);
  return { steps: complete(written, ids) };
}

function collectIds(written: WrittenStep[], taken: Set<string>): void {
  for (const step of written) {
    if (step.step_id !== undefined) taken.add(step.step_id);
    if ('body' in step) collectIds(step.body, taken);
    if ('branches' in step) for (const branch of Object.values(step.branches)) collectIds(branch, taken);
  }
}

/** The step ids in use, and the next number to try for each name. */
type StepIds = { taken: Set<string>; numbers: Map<string, number> };

function complete(written: WrittenStep[], ids: StepIds): Step[] {
  return written.map((step) => {
    const step_id = step.step_id ?? deriveId(step, ids);
    const named = { type: step.type, step_id, name: step.name ?? step_id };
    if ('body' in step) return { ...step, ...named, type: step.type, body: complete(step.body, ids) };
    if (!('branches' in step)) return { ...step, ...named, type: step.type };
    const branches = Object.entries(step.branches).map(([name, steps]) => [name, complete(steps, ids)]);
    return { ...step, ...named, type: step.type, branches: Object.fromEntries(branches) };
  });
}

function deriveId(step: WrittenStep, { taken, numbers }: StepIds): string {
  const fallback = 'processor_type' in step ? step.processor_type : step.type;
  const id = deriveStepId(step.name ?? '', fallback, taken, numbers);
  taken.add(id);
  return id;
}
