import type { components } from '../../api/schema.d.ts';
import type { Expectation } from './expectation.ts';

/** The start of the form: a stored test case, or the input and result of a run. */
export type CaseDraft = Partial<Omit<components['schemas']['TestCase'], 'expectation'>> & {
  expectation?: Expectation;
} & {
  /** The ETag of the stored test case. */
  etag?: string;
  /** A note about a missing part. */
  note?: string;
};

/** The service's limit for a test case, in characters of JSON, input and expectation together. */
const CASE_MAX_CHARS = 500_000;
const LIMIT = `a test case has at most ${CASE_MAX_CHARS.toLocaleString('en')} characters, input and answer together`;

/**
 * Makes a test case from the input and result of a run; `ended` is undefined when there is no result. A result that is
 * too long is omitted with a note. Throws when the input is too long.
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
