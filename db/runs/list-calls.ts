import { sql } from 'kysely';
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
