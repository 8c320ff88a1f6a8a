// Makes races certain: a request meets a change that is not committed yet.
import type { Db, Tx } from '../../db/connect.ts';
import { waitUntil } from '../wait-until.ts';
import { countLockWaiters } from './lock-waiters.ts';

/** Sends `request` after `change`, and commits once the request waits for the change or has ended without waiting. */
export async function duringTransaction<T>(
  db: Db,
  change: (tx: Tx) => Promise<unknown>,
  request: () => Promise<T>,
): Promise<T> {
  let ended = false;
  const answer = await db.transaction().execute(async (tx) => {
    await change(tx);
    const pending = request().finally(() => {
      ended = true;
    });
    pending.catch(() => undefined);
    await waitUntil(async () => ended || (await countLockWaiters(db)) > 0);
    return { pending };
  });
  return answer.pending;
}
