// How a run stands when one more call goes on with it.
import pg from 'pg';
import { ServiceError } from '../flow/errors.ts';
import { notPaused } from '../flow/tool-calls.ts';
import type { Db, Tx } from './connect.ts';
import { runNotFound } from './run-not-found.ts';
import type { NewRun } from './runs.ts';

/** A session, also one that had ended, goes on with a call; not with two resumes of one pause. */
export async function goOn(
  db: Db | Tx,
  call: string,
  { executionId, after, anew }: NonNullable<NewRun['continues']>,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('run')
    .set({ status: 'in_progress', finished_at: null, error: null, result: null, concluded_by: call })
    .$if(anew !== undefined, (query) => query.set({ input: JSON.stringify(anew) }))
    .where('execution_id', '=', executionId)
    .where('cancel_requested_at', 'is', null)
    .$if(after !== undefined, (query) =>
      query.where('concluded_by', 'is not distinct from', after as string | null),
    )
    .executeTakeFirst();
  if (numUpdatedRows === 0n)
    throw new ServiceError('CONFLICT', 'The session was cancelled, or another call has gone on with it.');
}

/** For the error of storing calls: says that their project, or the run they go on with, is gone where it means that. */
export function refuseDeleted(calls: NewRun[]) {
  return (error: unknown): never => {
    const constraint = error instanceof pg.DatabaseError ? error.constraint : undefined;
    if (constraint === 'run_project_not_deleted')
      throw new ServiceError('FLOW_NOT_FOUND', 'There is no such flow any more: its project was deleted.');
    if (constraint !== 'run_continues_fkey') throw error;
    const [call] = calls;
    throw call?.mode === 'step' && call.continues ? runNotFound(call.continues.executionId) : notPaused();
  };
}

/** Of several resumes of one pause, the first gets it. */
export async function takePause(db: Db | Tx, resumedBy: string, executionId: string, after: string | null) {
  const { numUpdatedRows } = await db
    .updateTable('run')
    .set({ concluded_by: resumedBy })
    .where('execution_id', '=', executionId)
    .where('status', '=', 'tool_calls_required')
    .where('concluded_by', 'is not distinct from', after)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw notPaused();
}
