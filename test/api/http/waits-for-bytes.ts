import assert from 'node:assert/strict';
import { type LargeValues, REQUESTS_SHARE_BYTES } from '../../../platform/large-values/large-values.ts';
import { waitUntil } from '../../wait-until.ts';

/**
 * Asks while an organization, or a user, has its share of answers in hand, and asserts that the answer waits for it; `meanwhile` is
 * done before that is given back. Answers what was answered then.
 */
export async function waitsForBytes<T>(
  { answers }: Pick<LargeValues, 'answers'>,
  owner: string,
  ask: () => Promise<T>,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<T> {
  const giveBack = await answers.take(owner, REQUESTS_SHARE_BYTES);
  let isAnswered = false;
  const answer = ask().finally(() => {
    isAnswered = true;
  });
  answer.catch(() => undefined);
  try {
    await waitUntil(() => isAnswered || answers.countWaiting() > 0);
    assert(!isAnswered, 'it did not wait');
    await meanwhile();
  } finally {
    giveBack();
  }
  return answer;
}
