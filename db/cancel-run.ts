import { sql } from 'kysely';
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

/** Whether the run's cancellation was asked for, or it has ended; if not yet, that has to wait for the end of `tx`. */
export async function lockRunState(
  tx: Tx,
  executionId: string,
): Promise<{ cancelled: boolean; ended: boolean }> {
  const run = await tx
    .selectFrom('run')
    .select(['cancel_requested_at', 'finished_at'])
    .where('execution_id', '=', executionId)
    .forShare()
    .executeTakeFirstOrThrow();
  return { cancelled: run.cancel_requested_at !== null, ended: run.finished_at !== null };
}
