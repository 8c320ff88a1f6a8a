import { LARGE_BYTES } from '../../fairness/large-work.ts';
import type { EndTurn } from '../../fairness/turns.ts';
import type { LargeValues } from '../../large-values/large-values.ts';
import { takeBytes, takeLargeWork } from './take-bytes.ts';

/**
 * Does `use` with values that are stored, once an organization may hold their `bytes` and, where they are large, it has a turn at
 * them: a request of a few bytes has no more memory and time than one that brings them. `use` gets the function that ends the turn.
 * `endLargeWork` ends the turn that the request has for its body, before it waits. Throws RATE_LIMITED when its turn does not come,
 * and REQUEST_TIMEOUT when `gone` aborts first.
 */
export async function holdStored<T>(
  { answers, work }: Pick<LargeValues, 'answers' | 'work'>,
  organizationId: string,
  bytes: number,
  use: (endLargeWork: EndTurn) => Promise<T>,
  {
    endLargeWork = () => undefined,
    gone,
  }: { endLargeWork?: EndTurn | undefined; gone?: AbortSignal | undefined } = {},
): Promise<T> {
  const untilGone = gone && (() => gone);
  const atOnce = answers.takeNow(organizationId, bytes);
  if (!atOnce || bytes >= LARGE_BYTES) endLargeWork();
  const giveBack = atOnce ?? (await takeBytes(answers, organizationId, bytes, untilGone));
  try {
    const endTurn = await takeLargeWork(work, organizationId, bytes, untilGone && { gone: untilGone });
    try {
      return await use(() => {
        endLargeWork();
        endTurn();
      });
    } finally {
      endTurn();
    }
  } finally {
    giveBack();
  }
}
