import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { BLOCK_RUN_COLUMNS } from './block-runs.ts';
import { isCallOf } from './run-columns.ts';

/** Lists the block executions of all calls of a run, of these steps when given, in the order they started. */
export function listBlockTraces(db: Db, executionId: string, stepIds?: string[]) {
  return db
    .selectFrom('block_run')
    .innerJoin('run', 'run.execution_id', 'block_run.execution_id')
    .select(BLOCK_RUN_COLUMNS)
    .select(['block_run.execution_id', 'block_run.started_at'])
    .where(isCallOf(executionId))
    .$if(stepIds !== undefined, (query) => query.where('block_run.step_id', 'in', stepIds as string[]))
    .orderBy('block_run.started_at')
    .orderBy('block_run.block_key')
    .execute();
}
export type BlockTraceRow = Awaited<ReturnType<typeof listBlockTraces>>[number];

/** Measures what is read for a trace of a run: the requests and outputs of all its calls, in bytes of JSON. */
export async function measureTrace(db: Db, executionId: string): Promise<number> {
  const outputs = sql`(
    select coalesce(sum(octet_length(output::text)), 0) from block_run where block_run.execution_id = run.execution_id
  )`;
  const { bytes } = await db
    .selectFrom('run')
    .select(sql<number>`coalesce(sum(octet_length(run.input::text) + ${outputs}), 0)::bigint`.as('bytes'))
    .where(isCallOf(executionId))
    .executeTakeFirstOrThrow();
  return bytes;
}

/** Loads the input of a block execution, and the first `maxChars` of its output's JSON with its length (0: no output). */
export function loadBlockValues(
  db: Db,
  { execution_id, block_key }: Pick<BlockTraceRow, 'execution_id' | 'block_key'>,
  maxChars: number,
) {
  return db
    .selectFrom('block_run')
    .select('input')
    .select([
      sql<string>`coalesce(left(output::text, ${maxChars}), '')`.as('output'),
      sql<number>`coalesce(length(output::text), 0)`.as('output_chars'),
    ])
    .where('execution_id', '=', execution_id)
    .where('block_key', '=', block_key)
    .executeTakeFirstOrThrow();
}
