import { fieldName } from './field-names.ts';
import { eachStep, listsInside, type Step } from './steps.ts';

/** Lists the changes between two trees as sentences: "Sum up: model, prompt", "Greet is added". */
export function describeDifference(before: Step[], after: Step[]): string[] {
  const [old, now] = [indexOf(before), indexOf(after)];
  const lines: string[] = [];
  for (const [id, { step }] of now) if (!old.has(id)) lines.push(`${step.name} is added`);
  for (const [id, { step, list }] of old) {
    const other = now.get(id);
    if (!other) {
      lines.push(`${step.name} is deleted`);
      continue;
    }
    if (other.list !== list) lines.push(`${step.name} is moved`);
    const fields = findChangedFields(step, other.step);
    if (fields.length > 0) lines.push(`${step.name}: ${fields.map(fieldName).join(', ')}`);
  }
  if (lines.length === 0 && orderOf(before) !== orderOf(after)) lines.push('The order of the steps');
  return lines;
}

function indexOf(steps: Step[]): Map<string, { step: Step; list: string }> {
  return new Map(
    [...eachStep(steps)].map(({ step, place: { parent, branch } }) => [
      step.step_id,
      { step, list: JSON.stringify([parent, branch]) },
    ]),
  );
}

/** Lists the fields that differ. Inner steps are not compared; of branches only the names are. */
function findChangedFields(before: Step, after: Step): string[] {
  const [a, b] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(
    (field) => JSON.stringify(a[field]) !== JSON.stringify(b[field]),
  );
}

function fieldsOf(step: Step): Record<string, unknown> {
  if (step.type === 'sequential') return step;
  const { step_id, name, type } = step;
  if (step.type === 'parallel') return { step_id, name, type, branches: Object.keys(step.branches) };
  return { step_id, name, type, max_iterations: step.max_iterations, until: step.until };
}

function orderOf(steps: Step[]): string {
  const order = (list: Step[]): unknown[] =>
    list.map((step) => [step.step_id, ...listsInside(step).map((inner) => order(inner.steps))]);
  return JSON.stringify(order(steps));
}

/** Whether two trees are equal; the order of keys does not matter. */
export function isSameTree(a: Step[], b: Step[]): boolean {
  return canonical(a) === canonical(b);
}

/** Writes a value as JSON with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
