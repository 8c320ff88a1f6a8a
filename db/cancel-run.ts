import { sql } from 'kysely';
import { ServiceError } from '../flow/errors.ts';
import { CANCELLED } from '../flow/run.ts';
import type { Db, Tx } from './connect.ts';

/** Marks a run that has not ended: from here on nothing is charged for it, and its workflow is not started. */
export async function requestCancel(db: Db, executionId: string): Promise<void> {
  await db
    .updateTable('run')
    .set({ cancel_requested_at: sql`coalesce(cancel_requested_at, now())` })
    .where('execution_id', '=', executionId)
    .where('status', '=', 'started')
    .execute();
}

/** Throws CANCELLED when the run's cancellation was asked for; otherwise that has to wait for the end of `tx`. */
export async function refuseCancelled(tx: Tx, executionId: string): Promise<void> {
  const run = await tx
    .selectFrom('run')
    .select('cancel_requested_at')
    .where('execution_id', '=', executionId)
    .forShare()
    .executeTakeFirstOrThrow();
  if (run.cancel_requested_at) throw new ServiceError(CANCELLED.code, CANCELLED.message);
}
