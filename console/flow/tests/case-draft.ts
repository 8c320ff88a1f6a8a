import type { components } from '../../api/schema.d.ts';
import type { Expectation } from './expectation.ts';

/** A case to begin with: a stored one, or the input and result of a run. */
export type CaseDraft = Partial<Omit<components['schemas']['TestCase'], 'expectation'>> & {
  expectation?: Expectation;
} & {
  /** The ETag of the stored case. */
  etag?: string;
  /** A sentence about what it lacks. */
  note?: string;
};

/** The most that the service takes in a test case, in characters of JSON, input and expectation together. */
const CASE_MAX_CHARS = 500_000;
const LIMIT = `a test case has at most ${CASE_MAX_CHARS.toLocaleString('en')} characters, input and answer together`;

/**
 * Makes a case of the input of a run and its result; `ended` is undefined when it has none. A result that does not fit is
 * left out, with a note. Throws for an input that does not fit, of which no case can be made.
 */
export function getCaseOfRun(
  input: Pick<CaseDraft, 'message' | 'parameters'>,
  ended: { result: unknown } | undefined,
): CaseDraft {
  const length = JSON.stringify(input).length;
  if (length > CASE_MAX_CHARS)
    throw new Error(`The input of this run is too long for a test case: ${LIMIT}.`);
  if (!ended) return input;
  const value = ended.result;
  if (length + (JSON.stringify(value)?.length ?? 0) > CASE_MAX_CHARS)
    return { ...input, note: `The result of the run is not taken over, since it is too long: ${LIMIT}.` };
  return { ...input, expectation: { type: 'equals', value } };
}
