import type { Step } from '../draft/steps.ts';

const FIRST = ['step_id', 'name', 'type', 'processor_type', 'model', 'prompt', 'max_iterations', 'until'];
const LAST = ['inputSchema', 'outputSchema', 'body', 'branches'];

/** Orders the keys of each object, so that equal trees are written alike. Branches keep their order. */
export function inKeyOrder(steps: Step[]): Step[] {
  return ordered(steps) as Step[];
}

function ordered(value: unknown, keepsOrder = false): unknown {
  if (Array.isArray(value)) return value.map((item) => ordered(item));
  if (value === null || typeof value !== 'object') return value;
  const isStep = 'step_id' in value;
  const entries = Object.entries(value);
  if (!keepsOrder) entries.sort(([a], [b]) => (isStep ? rankOf(a) - rankOf(b) : 0) || (a < b ? -1 : 1));
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, ordered(inner, isStep && key === 'branches')]),
  );
}

function rankOf(key: string): number {
  const first = FIRST.indexOf(key);
  if (first >= 0) return first;
  return FIRST.length + 1 + LAST.indexOf(key);
}
