import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import { BLOCK_RUNS_MAX } from '../../flow/limits.ts';
import type { Db, Tx } from '../connect.ts';

/** Block executions of a session, beyond which no further call begins: ten times what one call may have. */
export const SESSION_BLOCKS_MAX = 20_000;

/**
 * Throws CONFLICT when a session has no room for this further call, whose session is locked. A call counts as what it may still
 * execute while it is under way, and at least as one.
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
