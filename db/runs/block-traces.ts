import { sql } from 'kysely';
import type { StoredObject } from '../../platform/object-store/object-store.ts';
import type { Db } from '../connect.ts';
import { inputBytes } from '../stored-values/stored-inputs.ts';
import {
  type BlockId,
  outputBytes,
  outputObject,
  readStoredOutput,
} from '../stored-values/stored-outputs.ts';
import { BLOCK_RUN_BYTES, BLOCK_RUN_COLUMNS } from './block-runs.ts';
import { isCallOf } from './run-columns.ts';

/** Lists the block executions of all calls of a run, in the order they started, each with the version that its call ran. */
export function listBlockTraces(db: Db, executionId: string) {
  return selectTraces(db, executionId)
    .orderBy('block_run.started_at')
    .orderBy('block_run.block_key')
    .execute();
}
export type BlockTraceRow = Awaited<ReturnType<typeof listBlockTraces>>[number];

/** Lists a page of the block executions of all calls of a run, in the order they started. */
export function listBlockPage(
  db: Db,
  executionId: string,
  { after, limit }: { after?: BlockId | undefined; limit: number },
): Promise<BlockTraceRow[]> {
  return selectTraces(db, executionId)
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(block_run.started_at, block_run.block_key, block_run.execution_id) > (
          select started_at, block_key, execution_id from block_run
          where execution_id = ${after?.callId} and block_key = ${after?.blockKey})`,
      ),
    )
    .orderBy('block_run.started_at')
    .orderBy('block_run.block_key')
    .orderBy('block_run.execution_id')
    .limit(limit)
    .execute();
}

/**
 * Finds a block execution of a run: of one call when given, otherwise the last one with this key. Includes its input,
 * and the sizes of the call's request and of its output as JSON (0: no output).
 */
export function findBlockTrace(db: Db, executionId: string, blockKey: string, callId?: string) {
  return selectTraces(db, executionId)
    .select(['block_run.input', 'block_run.last_answer', 'block_run.logs', 'block_run.failed_attempts'])
    .select([inputBytes.as('request_bytes'), sql<number>`coalesce(${outputBytes}, 0)`.as('output_bytes')])
    .where('block_run.block_key', '=', blockKey)
    .$if(callId !== undefined, (query) => query.where('block_run.execution_id', '=', callId as string))
    .orderBy('block_run.started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
}
export type FoundBlock = NonNullable<Awaited<ReturnType<typeof findBlockTrace>>>;

/** Reads the output of a block execution as JSON text; undefined without one. */
export async function readOutputText(db: Db, { callId, blockKey }: BlockId): Promise<string | undefined> {
  const row = await db
    .selectFrom('block_run')
    .select([sql<string | null>`output::text`.as('output'), outputObject.as('object')])
    .where('execution_id', '=', callId)
    .where('block_key', '=', blockKey)
    .executeTakeFirst();
  if (row?.object) return readStoredOutput(db, callId, blockKey, row.object);
  return row?.output ?? undefined;
}

/** Finds the stored object of an output; undefined when the output is in the database or missing. */
export async function findOutputObject(
  db: Db,
  { callId, blockKey }: BlockId,
): Promise<StoredObject | undefined> {
  const row = await db
    .selectFrom('block_run')
    .select(outputObject.as('object'))
    .where('execution_id', '=', callId)
    .where('block_key', '=', blockKey)
    .executeTakeFirst();
  return row?.object ?? undefined;
}

function selectTraces(db: Db, executionId: string) {
  return db
    .selectFrom('block_run')
    .innerJoin('run', 'run.execution_id', 'block_run.execution_id')
    .select(BLOCK_RUN_COLUMNS)
    .select(['block_run.execution_id', 'block_run.started_at', 'block_run.finished_at'])
    .select('run.flow_version_id')
    .where(isCallOf(executionId));
}

/** Returns the size of a run's trace: the requests, blocks and outputs of all its calls, in bytes of JSON. */
export async function measureTrace(db: Db, executionId: string): Promise<number> {
  const outputs = sql`(
    select coalesce(sum(coalesce(${outputBytes}, 0) + ${BLOCK_RUN_BYTES}), 0)
    from block_run where block_run.execution_id = run.execution_id
  )`;
  const { bytes } = await db
    .selectFrom('run')
    .select(sql<number>`coalesce(sum(${inputBytes} + ${outputs}), 0)::bigint`.as('bytes'))
    .where(isCallOf(executionId))
    .executeTakeFirstOrThrow();
  return bytes;
}

/**
 * Loads the input of a block execution, and the first `maxChars` of its output's JSON with the total length (0: no
 * output).
 */
export async function loadBlockValues(
  db: Db,
  { execution_id, block_key }: Pick<BlockTraceRow, 'execution_id' | 'block_key'>,
  maxChars: number,
) {
  const { object, ...values } = await db
    .selectFrom('block_run')
    .select(['input', 'last_answer', 'logs', 'failed_attempts', outputObject.as('object')])
    .select([
      sql<string>`coalesce(left(output::text, ${maxChars}), '')`.as('output'),
      sql<number>`coalesce(length(output::text), 0)`.as('output_chars'),
    ])
    .where('execution_id', '=', execution_id)
    .where('block_key', '=', block_key)
    .executeTakeFirstOrThrow();
  if (!object) return values;
  const text = await readStoredOutput(db, execution_id, block_key, object);
  return { ...values, output: text.slice(0, maxChars), output_chars: text.length };
}
