import type { Step } from './steps.ts';

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
