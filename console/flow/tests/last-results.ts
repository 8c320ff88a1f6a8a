import type { components } from '../../api/schema.d.ts';

type Case = Pick<components['schemas']['ListedTestCase'], 'last_result'>;

/** Whether the result of any test case is pending. */
export function isAnyPending(cases: readonly Case[] = []): boolean {
  return cases.some(({ last_result: last }) => last?.status === 'pending');
}

/** Summarizes the last results of the test cases on the draft, with the time of the latest; undefined without one. */
export function sumUpResults(cases: readonly Case[]) {
  const results = cases.flatMap(({ last_result: last }) => (last?.version === 0 ? last : []));
  const latest = results
    .map((result) => result.tested_at)
    .sort()
    .at(-1);
  if (latest === undefined) return undefined;
  const count = (wanted: string) => results.filter(({ status }) => status === wanted).length;
  const [passed, pending] = [count('passed'), count('pending')];
  const notRun = cases.length - results.length;
  const words = [
    `${passed} of ${cases.length} passed`,
    ...(pending > 0 ? [`${pending} running`] : []),
    ...(notRun > 0 ? [`${notRun} not run on it`] : []),
  ].join(', ');
  return { words, latest, haveAllPassed: passed === cases.length };
}
