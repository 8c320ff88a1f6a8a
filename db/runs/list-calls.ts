import { sql } from 'kysely';
import type { PausePoint } from '../../flow/tool-calls.ts';
import type { Db } from '../connect.ts';
import { isCallOf } from './run-columns.ts';

/**
 * Lists the calls of a run, the last one first, each with the steps it ran, `from` up to `to` (exclusive), and the
 * keys of its completed blocks.
 */
export async function listCalls(db: Db, executionId: string) {
  const rows = await db
    .selectFrom('run')
    .select(['execution_id', 'continues', 'mode', 'step_from', 'step_to'])
    .select((eb) =>
      eb
        .selectFrom('block_run')
        .select(sql<string[] | null>`array_agg(block_key)`.as('keys'))
        .whereRef('block_run.execution_id', '=', 'run.execution_id')
        .where('block_run.status', '=', 'completed')
        .as('completed'),
    )
    .where(isCallOf(executionId))
    .orderBy('started_at', 'desc')
    .execute();
  return (
    rows
      // The row of a step-through session is not a call.
      .filter((row) => row.mode !== 'step' || row.continues !== null)
      .map((row) => ({
        callId: row.execution_id,
        from: row.step_from ?? 0,
        to: row.step_to ?? undefined,
        completed: row.completed ?? [],
      }))
  );
}

/** Filters these calls to stored ones. */
export async function listStoredCalls(db: Db, callIds: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('run')
    .select('execution_id')
    .where('execution_id', 'in', callIds)
    .execute();
  return new Set(rows.map((row) => row.execution_id));
}

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
