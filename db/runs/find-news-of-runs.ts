import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { isSettled } from './list-recorded-blocks.ts';
import { statusOfRun } from './run-columns.ts';

/** A run, and the `recorded` of the last of its block executions that is known. */
export type Followed = { executionId: string; after: bigint };

/**
 * Finds those of the followed runs of which listRecordedBlocks has more to tell: a later block, or the end. Returns their
 * places in the list. A run that has been deleted counts too.
 */
export async function findNewsOfRuns(db: Db, followed: readonly Followed[]): Promise<number[]> {
  const ids = followed.map(({ executionId }) => executionId);
  const afters = followed.map(({ after }) => String(after));
  const { rows } = await sql<{ place: number }>`
    select place::int
    from unnest(${ids}::uuid[], ${afters}::xid8[]) with ordinality as followed (execution_id, after, place)
    left join run on run.execution_id = followed.execution_id
    where run.execution_id is null
      or ${statusOfRun()} <> 'started'
      or exists (
        select from block_run
        where block_run.execution_id = followed.execution_id
          and block_run.recorded > followed.after and ${isSettled()}
      )
      or exists (
        select from run call join block_run on block_run.execution_id = call.execution_id
        where call.continues = followed.execution_id
          and block_run.recorded > followed.after and ${isSettled()}
      )`.execute(db);
  return rows.map(({ place }) => place - 1);
}
