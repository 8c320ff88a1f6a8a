import type { Db } from '../../db/connect.ts';
import { leaveForObjects } from '../../db/stored-values/leave-for-objects.ts';
import type { LargeValues } from '../../platform/large-values/large-values.ts';
import { LARGE_BYTES } from '../../platform/limits/large-work.ts';
import { type Leave, stay } from '../../platform/limits/turn-to-leave.ts';
import type { EndTurn } from '../../platform/limits/turns.ts';
import { takeBytes, takeWorkToLeave } from './take-bytes.ts';

/** The functions that end a request's turn at large work, and leave it to wait for what is elsewhere. */
type Turn = { endLargeWork: EndTurn; leaveLargeWork: Leave };

/**
 * Does `use` with values that are stored, once an organization may hold their `bytes` and, where they are large, it has a turn at
 * them: a request of a few bytes has no more memory and time than one that brings them. `use` reads them from the database that it
 * gets, which leaves the turn while the object store is awaited. The turn that the request has for its body is ended before it
 * waits. Throws RATE_LIMITED when its turn does not come, and REQUEST_TIMEOUT when `gone` aborts first.
 */
export async function holdStored<T>(
  { db, largeValues: { answers, work } }: { db: Db; largeValues: Pick<LargeValues, 'answers' | 'work'> },
  organizationId: string,
  bytes: number,
  use: (db: Db, turn: Turn) => Promise<T>,
  {
    endLargeWork = () => undefined,
    leaveLargeWork = stay,
    gone,
  }: Partial<Turn> & { gone?: AbortSignal | undefined } = {},
): Promise<T> {
  const untilGone = gone && (() => gone);
  const atOnce = answers.takeNow(organizationId, bytes);
  if (!atOnce || bytes >= LARGE_BYTES) endLargeWork();
  const giveBack = atOnce ?? (await takeBytes(answers, organizationId, bytes, untilGone));
  try {
    const { end, leave } = await takeWorkToLeave(work, organizationId, bytes, untilGone);
    const endBoth = () => {
      endLargeWork();
      end();
    };
    const leaveBoth: Leave = (wait) => leave(() => leaveLargeWork(wait));
    try {
      return await use(leaveForObjects(db, leaveBoth), { endLargeWork: endBoth, leaveLargeWork: leaveBoth });
    } finally {
      end();
    }
  } finally {
    giveBack();
  }
}
