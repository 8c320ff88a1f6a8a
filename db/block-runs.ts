import { sql } from 'kysely';
import type { Json, ProcessorType } from '../flow/definition.ts';
import { ServiceError } from '../flow/errors.ts';
import { CANCELLED } from '../flow/run.ts';
import type { Value } from '../flow/value.ts';
import { lockRunState } from './cancel-run.ts';
import type { Db, Tx } from './connect.ts';
import { chargeCredits } from './ledger.ts';
import { releaseReservation } from './reservations.ts';
import { isCallOf } from './run-columns.ts';
import { outputNotFound } from './run-not-found.ts';

/** The trace of one block execution. `output` and `error` exclude each other; costs are in microcredits. */
export type BlockRun = {
  executionId: string;
  blockKey: string;
  stepId: string;
  name: string;
  processorType: ProcessorType;
  input: Value;
  /** Serialized JSON; `paused`: it is the conversation up to where the model asked for tools. */
  output?: string;
  paused?: boolean;
  error?: { code: string; message: string };
  model?: string;
  promptTokens?: number;
  completionTokens?: number;
  costMicrocredits?: number;
  attempts: number;
  startedAt: Date;
};

/**
 * Records a block execution, charges for it and releases what was reserved for it, once: one that is recorded as
 * completed, or as failed and charged, stays as it is. With a `result` it also records that the run has completed with
 * it, unless its cancellation was asked for: throws CANCELLED then. Answers whether this call did it. Model calls are not
 * recorded once the run has ended, nor charged once its cancellation was asked for: a completed one throws CANCELLED too.
 */
export async function recordBlockRun(
  db: Db,
  organizationId: string,
  run: BlockRun,
  result?: Value,
): Promise<boolean> {
  if (run.processorType !== 'llm') return insertBlockRun(db, run, result);
  const { executionId, blockKey } = run;
  return db.transaction().execute(async (tx) => {
    const { cancelled, ended } = await lockRunState(tx, executionId);
    if (cancelled && !run.error) throw new ServiceError(CANCELLED.code, CANCELLED.message);
    const microcredits = cancelled ? 0 : (run.costMicrocredits ?? 0);
    const recorded = !ended && (await insertBlockRun(tx, { ...run, costMicrocredits: microcredits }, result));
    if (recorded && microcredits > 0)
      await chargeCredits(tx, { organizationId, executionId, blockKey, microcredits });
    await releaseReservation(tx, run);
    return recorded;
  });
}

async function insertBlockRun(db: Db | Tx, run: BlockRun, result?: Value): Promise<boolean> {
  const finishedAt = new Date();
  const row = {
    execution_id: run.executionId,
    block_key: run.blockKey,
    step_id: run.stepId,
    name: run.name,
    processor_type: run.processorType,
    status: run.error ? ('failed' as const) : run.paused ? ('paused' as const) : ('completed' as const),
    input: JSON.stringify(run.input),
    output: run.output ?? null,
    error: run.error ? JSON.stringify(run.error) : null,
    model: run.model ?? null,
    prompt_tokens: run.promptTokens ?? 0,
    completion_tokens: run.completionTokens ?? 0,
    cost_microcredits: run.costMicrocredits ?? 0,
    latency_ms: Math.max(0, finishedAt.getTime() - run.startedAt.getTime()),
    attempts: run.attempts,
    started_at: run.startedAt,
    finished_at: finishedAt,
  };
  const { execution_id, block_key, ...changes } = row;
  const insert = db
    .insertInto('block_run')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['execution_id', 'block_key'])
        .doUpdateSet({ ...changes, recorded: sql`default` })
        .where('block_run.status', '=', 'failed')
        .where('block_run.cost_microcredits', '=', 0),
    );
  if (!result) return ((await insert.executeTakeFirst()).numInsertedOrUpdatedRows ?? 0n) > 0n;
  const { numUpdatedRows } = await db
    .with('recorded', () => insert.returning('block_key'))
    .updateTable('run')
    .set({ status: 'completed', finished_at: finishedAt, result: JSON.stringify(result) })
    .where('execution_id', '=', run.executionId)
    .where('status', '=', 'started')
    .where('cancel_requested_at', 'is', null)
    .where((eb) => eb.exists(eb.selectFrom('recorded').select('block_key')))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) await refuseCancelled(db, run.executionId);
  return numUpdatedRows > 0n;
}

/** A run whose cancellation was asked for meanwhile ends with that, whatever its last block has answered. */
async function refuseCancelled(db: Db | Tx, executionId: string): Promise<void> {
  const run = await db
    .selectFrom('run')
    .select('cancel_requested_at')
    .where('execution_id', '=', executionId)
    .where('status', '=', 'started')
    .executeTakeFirst();
  if (run?.cancel_requested_at) throw new ServiceError(CANCELLED.code, CANCELLED.message);
}

/** The recorded output of a block that completed, or its conversation where it paused; `bytes` as JSON. */
export async function loadBlockOutput(
  db: Db,
  executionId: string,
  blockKey: string,
): Promise<{ output: Json; bytes: number; paused: boolean; finishedAt: Date }> {
  const row = await db
    .selectFrom('block_run')
    .select(['output', 'status', 'finished_at'])
    .select(sql<number>`octet_length(output::text)`.as('bytes'))
    .where('execution_id', '=', executionId)
    .where('block_key', '=', blockKey)
    .where('status', 'in', ['completed', 'paused'])
    .executeTakeFirst();
  if (!row) throw outputNotFound(executionId, blockKey);
  const { output, bytes, status, finished_at: finishedAt } = row;
  return { output, bytes, paused: status === 'paused', finishedAt };
}

/** What callers and operators read of a block execution. */
export const BLOCK_RUN_COLUMNS = [
  'block_run.block_key',
  'block_run.step_id',
  'block_run.name',
  'block_run.processor_type',
  'block_run.status',
  'block_run.error',
  'block_run.model',
  'block_run.prompt_tokens',
  'block_run.completion_tokens',
  'block_run.cost_microcredits',
  'block_run.latency_ms',
  'block_run.attempts',
] as const;

/**
 * The blocks of a run and its continuations in the order they started, without inputs and outputs; up to what the call
 * `until` ran, where given.
 */
export function listBlockRuns(db: Db, executionId: string, until?: string) {
  const blocks = db
    .selectFrom('block_run')
    .select(BLOCK_RUN_COLUMNS)
    .orderBy('block_run.started_at')
    .orderBy('block_key');
  if (until === executionId) return blocks.where('execution_id', '=', executionId).execute();
  const lastStart = db.selectFrom('run as last').select('last.started_at');
  return blocks
    .where('execution_id', 'in', (query) =>
      query
        .selectFrom('run')
        .select('run.execution_id')
        .where(isCallOf(executionId))
        .$if(until !== undefined, (run) =>
          run.where('run.started_at', '<=', lastStart.where('last.execution_id', '=', until as string)),
        ),
    )
    .execute();
}
