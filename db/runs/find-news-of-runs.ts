import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { isUnderWay, isUnderWaySettled } from './blocks-under-way.ts';
import { isSettled } from './list-recorded-blocks.ts';
import { statusOfRun } from './run-columns.ts';

/**
 * A run, the `recorded` of the last of its block executions that is known, and for followers of blocks under way the last
 * `recorded` of those. A follower of the end alone has RECORDED_MAX for both.
 */
export type Followed = { executionId: string; after: bigint; underWay?: bigint };

/** The greatest xid8: nothing is recorded later. */
export const RECORDED_MAX = 2n ** 64n - 1n;

/**
 * Finds those of the followed runs of which there is more to tell: a later block of listRecordedBlocks, a change of
 * listBlocksUnderWay, or the end. Returns their places in the list. A run that has been deleted counts too.
 */
export async function findNewsOfRuns(db: Db, followed: readonly Followed[]): Promise<number[]> {
  const ids = followed.map(({ executionId }) => executionId);
  const afters = followed.map(({ after }) => String(after));
  const underWay = followed.map((run) => String(run.underWay ?? RECORDED_MAX));
  // Looking for blocks reads all those of the run that are recorded.
  const isOfBlocks = sql`followed.after < ${String(RECORDED_MAX)}::xid8`;
  const { rows } = await sql<{ place: number }>`
    select place::int
    from unnest(${ids}::uuid[], ${afters}::xid8[], ${underWay}::xid8[])
      with ordinality as followed (execution_id, after, under_way, place)
    left join run on run.execution_id = followed.execution_id
    where run.execution_id is null
      or ${statusOfRun()} <> 'started'
      or ${isOfBlocks} and exists (
        select from block_run
        where block_run.execution_id = followed.execution_id
          and block_run.recorded > followed.after and ${isSettled()}
      )
      or ${isOfBlocks} and exists (
        select from run call join block_run on block_run.execution_id = call.execution_id
        where call.continues = followed.execution_id
          and block_run.recorded > followed.after and ${isSettled()}
      )
      or exists (
        select from block_under_way
        where block_under_way.execution_id = followed.execution_id
          and block_under_way.recorded > followed.under_way
          and ${isUnderWay('run')} and ${isUnderWaySettled()}
      )
      or exists (
        select from run call join block_under_way on block_under_way.execution_id = call.execution_id
        where call.continues = followed.execution_id
          and block_under_way.recorded > followed.under_way
          and ${isUnderWay('call')} and ${isUnderWaySettled()}
      )`.execute(db);
  return rows.map(({ place }) => place - 1);
}
