import { sql } from 'kysely';
import { CANCELLED } from '../flow/run.ts';
import type { Db } from './connect.ts';
import { isCallOf } from './run-columns.ts';

/**
 * Marks a run that has not ended, and its continuations under way: from here on nothing is charged for it, and no
 * workflow of it is started. One that waits for its caller ends with this.
 */
export async function requestCancel(db: Db, executionId: string): Promise<void> {
  const waits = sql<boolean>`status in ('tool_calls_required', 'in_progress')`;
  const now = sql<Date>`coalesce(cancel_requested_at, now())`;
  await db
    .updateTable('run')
    .set({
      cancel_requested_at: now,
      status: sql`case when ${waits} then 'failed' else status end`,
      error: sql`case when ${waits} then ${JSON.stringify(CANCELLED)}::json else error end`,
      finished_at: sql`case when ${waits} then now() else finished_at end`,
      pause: null,
    })
    .where('execution_id', '=', executionId)
    .where('status', 'not in', ['completed', 'failed'])
    .execute();
  // Looked for only now: a continuation is accepted before the run is marked, or not at all.
  await db
    .updateTable('run')
    .set({ cancel_requested_at: now })
    .where('continues', '=', executionId)
    .where('status', '=', 'started')
    .execute();
}

/** The run, or the continuations of it, whose workflows are to be told of a cancellation. */
export function listUnderWay(db: Db, executionId: string) {
  return db
    .selectFrom('run')
    .select(['execution_id as executionId', 'continues'])
    .where(isCallOf(executionId))
    .where('status', '=', 'started')
    .execute();
}
