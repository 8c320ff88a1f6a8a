import { sql } from 'kysely';
import { CANCELLED } from '../../flow/run.ts';
import type { Db, Tx } from '../connect.ts';
import { CALL_IDS, isCallOf } from './run-columns.ts';

/** Whether a run is under way or waits for its caller, in the words of the index `run_open_by_project`. */
export const IS_OPEN = sql<boolean>`run.status in ('started', 'tool_calls_required', 'in_progress')`;

const WAITS = sql<boolean>`run.status in ('tool_calls_required', 'in_progress')`;
/** What `update run set` does to one that is to end; one that waits for its caller ends with this. */
export const CANCELLATION = sql`
  cancel_requested_at = coalesce(run.cancel_requested_at, now()),
  status = case when ${WAITS} then 'failed' else run.status end,
  error = case when ${WAITS} then ${JSON.stringify(CANCELLED)}::json else run.error end,
  finished_at = case when ${WAITS} then now() else run.finished_at end,
  pause = null`;

/**
 * Marks a run that has not ended, and its continuations under way: from here on nothing is charged for it, and no
 * workflow of it is started. One that waits for its caller ends with this.
 */
export async function requestCancel(db: Db | Tx, executionId: string): Promise<void> {
  await sql`update run set ${CANCELLATION} where execution_id = ${executionId} and ${IS_OPEN}`.execute(db);
  // Looked for only now: a continuation is accepted before the run is marked, or not at all.
  await db
    .updateTable('run')
    .set({ cancel_requested_at: sql`coalesce(cancel_requested_at, now())` })
    .where('continues', '=', executionId)
    .where('status', '=', 'started')
    .execute();
}

/** The run, or the continuations of it, whose workflows are to be told of a cancellation. */
export function listUnderWay(db: Db, executionId: string) {
  return db
    .selectFrom('run')
    .select(CALL_IDS)
    .where(isCallOf(executionId))
    .where('status', '=', 'started')
    .execute();
}
