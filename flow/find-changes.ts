import type { FlowDefinition, Json, Step } from './definition.ts';
import { findDifference } from './json.ts';
import { eachStep } from './step-path.ts';

/**
 * A field of a step that differs; undefined on the side that does not have it. A step that is only on one side is one change
 * of the field `''`, with the step's own fields. The order of steps is the field `steps`, `body` or `branches` of what holds
 * them, as lists of step_ids; `step_id` is null for the flow itself.
 */
export type Change = { step_id: string | null; field: string; from: Json | undefined; to: Json | undefined };

type Fields = { [field: string]: Json };

/** Lists what changes from one definition to another: of the flow first, then by step in the order of `to`, removed steps last. */
export function findChanges(from: FlowDefinition, to: FlowDefinition): Change[] {
  const before = indexSteps(from);
  const after = indexSteps(to);
  const changes = changesOf(null, { steps: idsOf(from.steps) }, { steps: idsOf(to.steps) });
  for (const [id, fields] of after) {
    const old = before.get(id);
    if (old) changes.push(...changesOf(id, old, fields));
    else changes.push({ step_id: id, field: '', from: undefined, to: fields });
  }
  for (const [id, fields] of before)
    if (!after.has(id)) changes.push({ step_id: id, field: '', from: fields, to: undefined });
  return changes;
}

function changesOf(step_id: string | null, before: Fields, after: Fields): Change[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].flatMap((field) => {
    const from = Object.hasOwn(before, field) ? before[field] : undefined;
    const to = Object.hasOwn(after, field) ? after[field] : undefined;
    return findDifference(from, to) ? [{ step_id, field, from, to }] : [];
  });
}

/** Maps each step_id to the step's own fields; steps inside it are named by their step_ids. */
function indexSteps(definition: FlowDefinition): Map<string, Fields> {
  return new Map([...eachStep(definition)].map(({ step }) => [step.step_id, fieldsOf(step)]));
}

function fieldsOf(step: Step): Fields {
  const { step_id: _, ...fields } = step;
  if ('body' in fields) return { ...fields, body: idsOf(fields.body) } as Fields;
  if (!('branches' in fields)) return fields as Fields;
  const branches = Object.entries(fields.branches).map(([name, steps]) => [name, idsOf(steps)]);
  return { ...fields, branches: Object.fromEntries(branches) } as Fields;
}

function idsOf(steps: Step[]): string[] {
  return steps.map(({ step_id }) => step_id);
}
