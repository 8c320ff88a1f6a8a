import assert from 'node:assert/strict';
import { type HttpGates, REQUEST_BYTES_EACH } from '../../../platform/limits/gates.ts';
import { waitUntil } from '../../wait-until.ts';

/**
 * Asks while an organization, or a user, has its share of answers in hand, and asserts that the answer waits for it; `meanwhile` is
 * done before that is given back. Answers what was answered then.
 */
export async function waitsForBytes<T>(
  { answers }: Pick<HttpGates, 'answers'>,
  owner: string,
  ask: () => Promise<T>,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<T> {
  const permit = await answers.acquire(owner, { weight: REQUEST_BYTES_EACH });
  let isAnswered = false;
  const answer = ask().finally(() => {
    isAnswered = true;
  });
  answer.catch(() => undefined);
  try {
    await waitUntil(() => isAnswered || answers.count().queued > 0);
    assert(!isAnswered, 'it did not wait');
    await meanwhile();
  } finally {
    permit.release();
  }
  return answer;
}
