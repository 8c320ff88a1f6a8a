import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { BLOCK_RUN_COLUMNS, selectBlockRuns } from './block-runs.ts';
import { statusOfRun } from './run-columns.ts';
import { runNotFound } from './run-not-found.ts';

/** For this long, a row with a smaller id than a visible one may still be on its way into the database. */
export const UNSETTLED_SECONDS = 5;

/** Whether no block execution of a smaller `recorded` can appear after this one. */
export function isSettled() {
  return sql<boolean>`(block_run.recorded < pg_snapshot_xmin(pg_current_snapshot())
    or block_run.finished_at < now() - ${UNSETTLED_SECONDS} * interval '1 second')`;
}

/**
 * Lists the block executions of a run that were recorded after the one whose `recorded` is `after`, in that order, with the
 * status of the run. Throws RUN_NOT_FOUND.
 */
export async function listRecordedBlocks(db: Db, executionId: string, after: bigint) {
  const rows = await db
    .selectFrom('run')
    .leftJoin('block_run', (join) =>
      join
        .on('block_run.execution_id', 'in', (query) =>
          query
            .selectFrom('run as call')
            .select('call.execution_id')
            .where((call) =>
              call.or([
                call('call.execution_id', '=', executionId),
                call('call.continues', '=', executionId),
              ]),
            ),
        )
        .on('block_run.recorded', '>', sql<string>`${after.toString()}::xid8`)
        .on((eb) => eb.or([eb(statusOfRun(), '<>', 'started'), isSettled()])),
    )
    .select(statusOfRun().as('run_status'))
    .select(BLOCK_RUN_COLUMNS)
    .select('block_run.recorded')
    .where('run.execution_id', '=', executionId)
    .orderBy('block_run.recorded')
    // Of a restored run, many may have the same number.
    .orderBy('block_run.finished_at')
    .execute();
  const [first] = rows;
  if (!first) throw runNotFound(executionId);
  return {
    status: first.run_status,
    blocks: rows.filter((row): row is Recorded<typeof row> => row.block_key !== null),
  };
}

/** Lists the block executions of one call in the order they started, each with its `recorded` and whether it is settled. */
export function listBlocksOfCall(db: Db, callId: string) {
  return selectBlockRuns(db)
    .select('block_run.recorded')
    .select(isSettled().as('settled'))
    .where('execution_id', '=', callId)
    .execute();
}

/** Returns the `recorded` of the last settled row; 0 when there is none. */
export function lastSettled(rows: readonly { recorded: string; settled: boolean }[]): bigint {
  return rows.reduce(
    (last, { recorded, settled }) => (settled && BigInt(recorded) > last ? BigInt(recorded) : last),
    0n,
  );
}

type Recorded<Row> = {
  [Column in keyof Row]: Column extends Nullable ? Row[Column] : NonNullable<Row[Column]>;
};
type Nullable = 'error' | 'model';
