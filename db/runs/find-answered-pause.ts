import { sql } from 'kysely';
import type { PausePoint } from '../../flow/tool-calls.ts';
import type { Db } from '../connect.ts';
import { isCallOf } from './run-columns.ts';

/**
 * Finds the pause that a resume has answered, and the call that paused. `callIds`: the tries of the resume, in order.
 * Undefined when the run has had another call since.
 */
export async function findAnsweredPause(
  db: Db,
  executionId: string,
  tries: [string, ...string[]],
): Promise<{ callId: string; pause: PausePoint } | undefined> {
  const row = await db
    .selectFrom('run')
    .select(['execution_id', 'pause'])
    .select((run) =>
      run
        .selectFrom('run as first')
        .select(({ eb, ref }) => eb('first.started_at', '>', ref('run.started_at')).as('precedes'))
        .where('first.execution_id', '=', tries[0])
        .as('precedes'),
    )
    .where(isCallOf(executionId))
    .where('execution_id', 'not in', tries)
    // A session's own row is not a call, and begins with its first call.
    .where(sql<boolean>`(run.mode <> 'step' or run.continues is not null)`)
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.pause && row.precedes ? { callId: row.execution_id, pause: row.pause } : undefined;
}
