import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { isUnderWay, isUnderWaySettled } from './blocks-under-way.ts';
import { isSettled } from './recorded-blocks.ts';
import { statusOfRun } from './run-columns.ts';

/**
 * A followed run: the `recorded` of its last known block execution and, for followers of blocks in flight, of its
 * last known block in flight. A follower of the end alone has RECORDED_MAX for both.
 */
export type Followed = { executionId: string; after: bigint; underWay?: bigint };

/** The greatest xid8: nothing is recorded later. */
export const RECORDED_MAX = 2n ** 64n - 1n;

/**
 * Finds the followed runs with updates: a later block of listRecordedBlocks, a change of listBlocksUnderWay, or the
 * end. Returns their indexes in the list. A deleted run counts too.
 */
export async function findUpdatedRuns(db: Db, followed: readonly Followed[]): Promise<number[]> {
  const ids = followed.map(({ executionId }) => executionId);
  const afters = followed.map(({ after }) => String(after));
  const underWay = followed.map((run) => String(run.underWay ?? RECORDED_MAX));
  // Searching for blocks reads all recorded blocks of the run.
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
