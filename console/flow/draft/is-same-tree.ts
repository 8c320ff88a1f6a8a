import type { Step } from './steps.ts';

/** Tells whether two trees say the same; the order of keys does not matter. */
export function isSameTree(a: Step[], b: Step[]): boolean {
  return canonical(a) === canonical(b);
}

/** The value as JSON with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
