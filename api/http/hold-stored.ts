import { LARGE_BYTES } from '../../fairness/large-work.ts';
import { type Leave, stay, takeTurnToLeave } from '../../fairness/turn-to-leave.ts';
import type { EndTurn } from '../../fairness/turns.ts';
import type { LargeValues } from '../../large-values/large-values.ts';
import { takeBytes, takeLargeWork, takeLargeWorkAgain } from './take-bytes.ts';

/**
 * Does `use` with values that are stored, once an organization may hold their `bytes` and, where they are large, it has a turn at
 * them: a request of a few bytes has no more memory and time than one that brings them. `use` gets the functions that end the turn,
 * and leave it to wait for what is elsewhere. `endLargeWork` ends the turn that the request has for its body, before it waits, and
 * `leaveLargeWork` leaves it. Throws RATE_LIMITED when its turn does not come, and REQUEST_TIMEOUT when `gone` aborts first.
 */
export async function holdStored<T>(
  { answers, work }: Pick<LargeValues, 'answers' | 'work'>,
  organizationId: string,
  bytes: number,
  use: (endLargeWork: EndTurn, leaveLargeWork: Leave) => Promise<T>,
  {
    endLargeWork = () => undefined,
    leaveLargeWork = stay,
    gone,
  }: {
    endLargeWork?: EndTurn | undefined;
    leaveLargeWork?: Leave | undefined;
    gone?: AbortSignal | undefined;
  } = {},
): Promise<T> {
  const untilGone = gone && (() => gone);
  const atOnce = answers.takeNow(organizationId, bytes);
  if (!atOnce || bytes >= LARGE_BYTES) endLargeWork();
  const giveBack = atOnce ?? (await takeBytes(answers, organizationId, bytes, untilGone));
  try {
    const options = untilGone && { gone: untilGone };
    const { end, leave } = await takeTurnToLeave(
      () => takeLargeWork(work, organizationId, bytes, options),
      () => takeLargeWorkAgain(work, organizationId, bytes, gone),
    );
    const endBoth = () => {
      endLargeWork();
      end();
    };
    try {
      return await use(endBoth, (wait) => leave(() => leaveLargeWork(wait)));
    } finally {
      end();
    }
  } finally {
    giveBack();
  }
}
