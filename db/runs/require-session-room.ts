import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import { BLOCK_RUNS_MAX } from '../../flow/limits.ts';
import type { Db, Tx } from '../connect.ts';

/** Maximum number of block executions of a session before its next call: ten times those of one call. */
export const SESSION_BLOCKS_MAX = 20_000;

/**
 * Throws CONFLICT when a session has no room for this further call. The caller has locked the session. A call in
 * flight counts as what it may still execute, and each call as at least one.
 */
export async function requireSessionRoom(db: Db | Tx, executionId: string, callId: string): Promise<void> {
  const { blocks } = await db
    .selectFrom('run as call')
    .select(
      sql<number>`coalesce(sum(case when call.status = 'started' then ${BLOCK_RUNS_MAX} else greatest(1, (
        select count(*) from block_run where block_run.execution_id = call.execution_id
      )) end), 0)::bigint`.as('blocks'),
    )
    .where('call.continues', '=', executionId)
    .where('call.execution_id', '<>', callId)
    .executeTakeFirstOrThrow();
  if (blocks >= SESSION_BLOCKS_MAX) throw sessionFull();
}

function sessionFull(): ServiceError {
  return new ServiceError(
    'CONFLICT',
    `The session has executed ${SESSION_BLOCKS_MAX} blocks, or its calls under way may: wait for these, or go on in a new session. GET …/jobs/{executionId}/fork answers the request that begins it.`,
  );
}
