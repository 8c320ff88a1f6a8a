// How large attacks and property tests are: in full in `npm run test:system`, a fifth of that in `npm test`.
const SHARE = process.env.TEST_SIZE === 'full' ? 1 : 5;

/** The number of cases of a property test of which `all` are run in full size. */
export function propertyRuns(all: number): number {
  return Math.ceil(all / SHARE);
}

/** Every fifth of the attacks, the first among them; all of them in full size. */
export function attacks<T>(all: readonly T[]): T[] {
  return all.filter((_, index) => index % SHARE === 0);
}
