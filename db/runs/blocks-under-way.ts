// Blocks in flight, for callers. A row is written once a block takes long or was rejected, and deleted at its end. A
// row left behind by a worker is hidden once the block is recorded or the call has ended, and deleted by a scheduled
// job.
import { type RawBuilder, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { ProcessorType } from '../../flow/definition.ts';
import type { ErrorCode } from '../../flow/errors.ts';
import type { Value } from '../../flow/value.ts';
import type { Db } from '../connect.ts';
import type { FailedAttempt } from '../schema.ts';
import type { BlockId } from '../stored-values/stored-outputs.ts';
import { selectBlockRunsOf } from './block-runs.ts';
import { UNSETTLED_SECONDS } from './recorded-blocks.ts';
import { isCallOf } from './run-columns.ts';

/** An attempt at a block; `attempts` counts it. */
export type BlockAttempt = {
  callId: string;
  blockKey: string;
  stepId: string;
  name: string;
  processorType: ProcessorType;
  input: Value;
  model?: string | undefined;
  attempts: number;
  /** From `performance.now()` of this process. */
  startedAt: number;
};

/** The failure of an attempt, which a provider rejected or for whose code there was no process, and the time until the next. */
export type Refusal = { code: ErrorCode; message: string; tookMs: number; retryInMs: number };

/** The trace keeps so much of the message of a failed attempt. */
const MESSAGE_MAX_CHARS = 500;

/**
 * Shows that an attempt is in flight or was rejected. A later attempt keeps the message of the last rejection, and the failed
 * attempts, which become part of the block's trace.
 */
export async function showAttempt(db: Db, attempt: BlockAttempt, refusal?: Refusal): Promise<void> {
  const { callId, blockKey, stepId, name, processorType, input, model, attempts, startedAt } = attempt;
  const state = {
    attempts,
    ...(refusal && { last_error: refusal.message }),
    next_attempt_at: refusal ? sql<Date>`now() + ${refusal.retryInMs} * interval '1 millisecond'` : null,
    recorded: sql<string>`pg_current_xact_id()`,
  };
  const withFailure = (known: RawBuilder<unknown>) =>
    refusal && {
      failed_attempts: sql<FailedAttempt[]>`add_failed_attempt(${known}, ${refusal.code},
        ${refusal.message.slice(0, MESSAGE_MAX_CHARS)}, ${refusal.tookMs})`,
    };
  await db
    .insertInto('block_under_way')
    .values({
      execution_id: callId,
      block_key: blockKey,
      step_id: stepId,
      name,
      processor_type: processorType,
      input: JSON.stringify(input),
      model: model ?? null,
      started_at: sql<Date>`clock_timestamp() - ${performance.now() - startedAt} * interval '1 millisecond'`,
      ...state,
      ...withFailure(sql`null`),
    })
    .onConflict((conflict) =>
      conflict.columns(['execution_id', 'block_key']).doUpdateSet({
        ...state,
        ...withFailure(sql`block_under_way.failed_attempts`),
      }),
    )
    .execute();
}

/** Hides a block. */
export async function hideBlock(db: Db, { callId, blockKey }: BlockId): Promise<void> {
  await db
    .deleteFrom('block_under_way')
    .where('execution_id', '=', callId)
    .where('block_key', '=', blockKey)
    .execute();
}

/** Whether no block that ended before this one began can still appear in listRecordedBlocks. */
export function isUnderWaySettled() {
  return sql<boolean>`(block_under_way.recorded < pg_snapshot_xmin(pg_current_snapshot())
    or block_under_way.started_at < now() - ${UNSETTLED_SECONDS} * interval '1 second')`;
}

/** Whether a row is shown: its worker may have left it behind. `call`: the alias of the call's row in the query. */
export function isUnderWay(call: 'run' | 'call') {
  return sql<boolean>`(${sql.ref(call)}.status = 'started' and not exists (
    select from block_run
    where block_run.execution_id = block_under_way.execution_id
      and block_run.block_key = block_under_way.block_key
  ))`;
}

/** Deletes up to `limit` rows that workers have left behind; returns the number. */
export async function deleteLeftBlocks(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from block_under_way where ctid = any (array(
      select block_under_way.ctid from block_under_way join run using (execution_id)
      where not ${isUnderWay('run')} limit ${limit} for update of block_under_way skip locked
    ))`.execute(db);
  return Number(numAffectedRows);
}

/**
 * Returns the insert, in parentheses, that records the blocks in flight of the calls that `calls` selects as cancelled.
 * A worker records blocks that it aborts itself; others wait for their next attempt, or have lost their worker.
 */
export function recordStoppedBlocks(calls: RawBuilder<unknown>): RawBuilder<{ block_key: string }> {
  return sql`(
    insert into block_run (execution_id, block_key, step_id, name, processor_type, status, input, model, latency_ms,
      attempts, started_at, finished_at, failed_attempts)
    select execution_id, block_key, step_id, name, processor_type, 'cancelled', input, model,
      greatest(0, floor(extract(epoch from clock_timestamp() - started_at) * 1000)), attempts, started_at,
      clock_timestamp(), failed_attempts
    from block_under_way where execution_id in (${calls})
    on conflict on constraint block_run_pkey do nothing
    returning block_key)`;
}

/** Lists the blocks in flight of all calls of a run, in the order they started. */
export function listBlocksUnderWay(db: Db, executionId: string) {
  return selectBlocksUnderWay(db, executionId).execute();
}

/** Lists the block executions of a run and its blocks in flight as one snapshot has them: no block is in both. */
export async function listAllBlocks(db: Db, executionId: string) {
  const { blocks, underWay } = await db
    .selectNoFrom([
      jsonArrayFrom(selectBlockRunsOf(db, executionId)).as('blocks'),
      jsonArrayFrom(selectBlocksUnderWay(db, executionId)).as('underWay'),
    ])
    .executeTakeFirstOrThrow();
  const dated = underWay.map(({ started_at, next_attempt_at, ...row }) => ({
    ...row,
    started_at: new Date(started_at),
    next_attempt_at: next_attempt_at === null ? null : new Date(next_attempt_at),
  }));
  return { blocks, underWay: dated };
}

function selectBlocksUnderWay(db: Db, executionId: string) {
  return db
    .selectFrom('block_under_way')
    .innerJoin('run', 'run.execution_id', 'block_under_way.execution_id')
    .selectAll('block_under_way')
    .select(isUnderWaySettled().as('settled'))
    .where(isCallOf(executionId))
    .where(isUnderWay('run'))
    .orderBy('block_under_way.started_at')
    .orderBy('block_under_way.block_key');
}
export type BlockUnderWayRow = Awaited<ReturnType<typeof listBlocksUnderWay>>[number];
