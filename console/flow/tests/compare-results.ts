// The results of two test runs, by test case.
import type { components } from '../../api/schema.d.ts';

export type Result = components['schemas']['TestRun']['results'][number];

/** A case in two test runs; `before` or `after` is absent where the case was not run. */
export type ComparedCase = { id: string; name: string; isChanged: boolean; before?: Result; after?: Result };

/** Pairs the results of two test runs by case. Cases whose verdict has changed come first. */
export function compareResults(from: readonly Result[], to: readonly Result[]): ComparedCase[] {
  const before = new Map(from.map((result) => [result.test_case_id, result]));
  const after = new Map(to.map((result) => [result.test_case_id, result]));
  return [...new Set([...after.keys(), ...before.keys()])]
    .map((id) => {
      const [old, now] = [before.get(id), after.get(id)];
      const pair = { ...(old && { before: old }), ...(now && { after: now }) };
      return { id, name: now?.name ?? old?.name ?? '', isChanged: old?.status !== now?.status, ...pair };
    })
    .sort((one, other) => Number(other.isChanged) - Number(one.isChanged));
}

/** Writes a difference with its sign, by `write`; '' without one of the values. */
export function writeChange(
  before: number | null | undefined,
  after: number | null | undefined,
  write: (value: number) => string,
): string {
  if (before == null || after == null) return '';
  const change = after - before;
  return change === 0 ? '±0' : `${change > 0 ? '+' : '−'}${write(Math.abs(change))}`;
}
