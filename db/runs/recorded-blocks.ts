import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { runNotFound } from '../stored-values/run-not-found.ts';
import { outputBytes } from '../stored-values/stored-outputs.ts';
import { BLOCK_RUN_COLUMNS, selectBlockRuns } from './block-runs.ts';
import { isCallOf, statusOfRun } from './run-columns.ts';

/** For this long, a row with a smaller number than a visible one may still be uncommitted. */
export const UNSETTLED_SECONDS = 5;

/** Whether no block execution with a smaller `recorded` can still appear. */
export function isSettled() {
  return sql<boolean>`(block_run.recorded < pg_snapshot_xmin(pg_current_snapshot())
    or block_run.finished_at < now() - ${UNSETTLED_SECONDS} * interval '1 second')`;
}

/**
 * Block executions listed at a time: a run may have thousands, and each of its followers keeps unsent ones in memory.
 */
const PAGE_MAX = 250;

/**
 * Lists about 250 block executions of a run after the number `after`, in the order they were recorded, with the
 * status of the run and whether there may be more (`isFull`). Throws RUN_NOT_FOUND.
 */
export async function listRecordedBlocks(db: Db, executionId: string, after: bigint) {
  const rows = await db
    .selectFrom('run')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('block_run')
          .select(BLOCK_RUN_COLUMNS)
          .select(['block_run.recorded', 'block_run.finished_at'])
          .where('block_run.execution_id', 'in', (query) =>
            query.selectFrom('run as call').select('call.execution_id').where(isCallOf(executionId, 'call')),
          )
          .where('block_run.recorded', '>', sql<string>`${after.toString()}::xid8`)
          .where((block) => block.or([block(statusOfRun(), '<>', 'started'), isSettled()]))
          .orderBy('block_run.recorded')
          // After a restore many may have the same number, and the next page starts after a number.
          .fetch(PAGE_MAX, 'with ties')
          .as('block_run'),
      (join) => join.onTrue(),
    )
    .select(statusOfRun().as('run_status'))
    .select(BLOCK_RUN_COLUMNS)
    .select('block_run.recorded')
    .where('run.execution_id', '=', executionId)
    .orderBy('block_run.recorded')
    .orderBy('block_run.finished_at')
    .execute();
  const [first] = rows;
  if (!first) throw runNotFound(executionId);
  return {
    status: first.run_status,
    isFull: rows.length >= PAGE_MAX,
    blocks: rows.filter((row): row is Recorded<typeof row> => row.block_key !== null),
  };
}

/**
 * Lists the block executions of one call in the order they started, each with its `recorded` and whether it is
 * settled.
 */
export function listBlocksOfCall(db: Db, callId: string) {
  return selectBlockRuns(db)
    .select('block_run.recorded')
    .select(isSettled().as('settled'))
    .where('execution_id', '=', callId)
    .execute();
}

/** Returns the `recorded` of the last settled row; 0 without one. */
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

/** Lists the sizes of a call's recorded outputs, in bytes of JSON, and the JSON text of outputs up to `maxBytes`. */
export async function listSmallOutputs(
  db: Db,
  callId: string,
  blockKeys: string[],
  maxBytes: number,
): Promise<Map<string, { bytes: number; text: string | null }>> {
  const bytes = sql<number>`coalesce(${outputBytes}, 0)`;
  const rows = await db
    .selectFrom('block_run')
    .select('block_key')
    .select([
      bytes.as('bytes'),
      sql<string | null>`case when ${bytes} <= ${maxBytes} then output::text end`.as('text'),
    ])
    .where('execution_id', '=', callId)
    .where('block_key', '=', sql<string>`any(${blockKeys}::text[])`)
    .where('status', '=', 'completed')
    .execute();
  return new Map(rows.map(({ block_key, ...output }) => [block_key, output]));
}
