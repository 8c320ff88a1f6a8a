import type { PausePoint } from '../../flow/tool-calls.ts';
import type { Db } from '../connect.ts';
import { isCallOf } from './run-columns.ts';

/** Finds the last call of a run that paused, whether or not the run has gone on since, and its pause. */
export async function findLastPause(
  db: Db,
  executionId: string,
): Promise<{ callId: string; pause: PausePoint } | undefined> {
  const row = await db
    .selectFrom('run')
    .select(['execution_id', 'pause'])
    .where(isCallOf(executionId))
    .where('pause', 'is not', null)
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.pause ? { callId: row.execution_id, pause: row.pause } : undefined;
}

/** Lists those of the calls that are stored. */
export async function listStored(db: Db, callIds: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('run')
    .select('execution_id')
    .where('execution_id', 'in', callIds)
    .execute();
  return new Set(rows.map((row) => row.execution_id));
}
