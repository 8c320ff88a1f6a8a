import { CompiledQuery } from 'kysely';
import type { CodeLog } from '../../flow/code-log.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';
import type { Json, ProcessorType } from '../../flow/definition.ts';
import { type ErrorCode, ServiceError } from '../../flow/errors.ts';
import type { KeptAnswer } from '../../flow/model-call.ts';
import { CANCELLED } from '../../flow/run.ts';
import type { Value } from '../../flow/value.ts';
import type { StoredObject } from '../../platform/object-store/object-store.ts';
import {
  blockDuration,
  blockFailures,
  creditsCharged,
  creditsUncharged,
} from '../../platform/observability/metrics/run-metrics.ts';
import type { Db } from '../connect.ts';
import { outputNotFound, rethrowAsRunNotFound } from '../stored-values/run-not-found.ts';
import {
  isBeingDeleted,
  outputBytes,
  outputObject,
  readStoredOutput,
} from '../stored-values/stored-outputs.ts';
import { isCallOf } from './run-columns.ts';

/**
 * One block execution, with either an `output` or an `error`; the error CANCELLED means that it was stopped in flight.
 * Costs are in microcredits.
 */
export type BlockRun = {
  callId: string;
  blockKey: string;
  stepId: string;
  name: string;
  processorType: ProcessorType;
  input: Value;
  /**
   * Serialized JSON, as bytes when it is large; when `paused`, the conversation up to the model's request for tools.
   */
  output?: string | Buffer;
  /** The stored object of the output, when it is not in the row. */
  stored?: StoredObject | undefined;
  paused?: boolean;
  error?: { code: ErrorCode; message: string };
  lastAnswer?: KeptAnswer;
  logs?: CodeLog[];
  model?: string;
  promptTokens?: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
  cacheWriteHourTokens?: number;
  completionTokens?: number;
  reasoningTokens?: number;
  /** Whether counts of tokens are estimates, because a provider left them out. */
  isEstimated?: boolean;
  costMicrocredits?: number;
  /** Whether credits were reserved for it; not needed for blocks with model calls. */
  reserved?: boolean;
  attempts: number;
  /** Whether the output was given with the run, in place of running the block. */
  pinned?: boolean;
  /**
   * From `performance.now()` of this process: the database provides the time, because the clocks of machines differ.
   */
  startedAt: number;
};

/** The organization that pays for a block execution, and the maximum cost of the run. */
export type Payer = { organizationId: string; maxMicrocredits?: number | undefined };

/**
 * Records a block execution, charges for it and releases its reservation, once. Does nothing for a block recorded as
 * completed, or as failed after a charge or a model response. Returns whether this call recorded it. With a `result`,
 * also completes the run, or throws CANCELLED when the run was asked to cancel. The charge, which becomes the
 * recorded cost, takes neither the balance below zero nor the run over its maximum; the rest is recorded as uncharged.
 * Blocks with model calls or costs are not charged after a cancel request or the run's failure: a completed one then
 * throws CANCELLED. After the run's completion they are not recorded. A stopped block is recorded also after the end, and
 * replaces no other record.
 * Throws RUN_NOT_FOUND when the run was deleted.
 */
export async function recordBlockRun(db: Db, payer: Payer, run: BlockRun, result?: Value): Promise<boolean> {
  const { recorded, cancelled } = await record(db, payer, run, result).catch((error: unknown) => {
    if (isBeingDeleted(error)) return record(db, payer, { ...run, stored: undefined }, result);
    throw error;
  });
  if (cancelled && !run.error) throw new ServiceError(CANCELLED.code, CANCELLED.message);
  return recorded;
}

type Recorded = { recorded: boolean; cancelled: boolean; uncharged: number };

/**
 * The parameters of `record_block_run`. The output is last: pg copies everything before a value that needs more room.
 */
const PARAMETERS = [
  'execution_id',
  'block_key',
  'step_id',
  'name',
  'processor_type',
  'status',
  'input',
  'error',
  'model',
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'usage_estimated',
  'cost_microcredits',
  'latency_ms',
  'attempts',
  'result',
  'charged_to',
  'maximum',
  'last_answer',
  'logs',
  'pinned',
  'output',
] as const;
/** Every block sends one of these, so they are built once. */
const RECORD = recordStatement(0);
const RECORD_AND_LINK = recordStatement(3, ', link_output($1, $2, $3)');

/** Returns the statement whose first `before` parameters are those of `link`. */
function recordStatement(before: number, link = ''): string {
  const values = PARAMETERS.map((name, index) => `p_${name} => $${before + index + 1}`);
  const latencyMs = `$${before + PARAMETERS.indexOf('latency_ms') + 1}::integer`;
  // By the database's clock, which readers use for blocks in flight. A worker's clock may differ.
  values.push(`p_started_at => clock_timestamp() - ${latencyMs} * interval '1 millisecond'`);
  values.push('p_finished_at => clock_timestamp()');
  return `select recorded, cancelled, uncharged${link} from record_block_run(${values.join(', ')})`;
}

async function record(db: Db, payer: Payer, run: BlockRun, result: Value | undefined): Promise<Recorded> {
  const { organizationId, maxMicrocredits } = payer;
  const isStopped = run.error?.code === CANCELLED.code;
  const row = {
    execution_id: run.callId,
    block_key: run.blockKey,
    step_id: run.stepId,
    name: run.name,
    processor_type: run.processorType,
    status: isStopped ? 'cancelled' : run.error ? 'failed' : run.paused ? 'paused' : 'completed',
    input: JSON.stringify(run.input),
    error: run.error && !isStopped ? JSON.stringify(run.error) : null,
    model: run.model ?? null,
    prompt_tokens: run.promptTokens ?? 0,
    cached_tokens: run.cachedTokens ?? 0,
    cache_write_tokens: (run.cacheWriteTokens ?? 0) + (run.cacheWriteHourTokens ?? 0),
    completion_tokens: run.completionTokens ?? 0,
    reasoning_tokens: run.reasoningTokens ?? 0,
    usage_estimated: run.isEstimated ?? false,
    cost_microcredits: run.costMicrocredits ?? 0,
    // Never rounded up: it would seem to have begun before its dependencies ended.
    latency_ms: Math.floor(performance.now() - run.startedAt),
    attempts: run.attempts,
    result: result ? JSON.stringify(result) : null,
    charged_to: isCharged(run) ? organizationId : null,
    maximum: maxMicrocredits ?? null,
    last_answer: run.lastAnswer ? JSON.stringify(run.lastAnswer) : null,
    logs: run.logs?.length ? JSON.stringify(run.logs) : null,
    pinned: run.pinned ?? false,
    output: run.stored ? null : (run.output ?? null),
  };
  const values = PARAMETERS.map((name) => row[name]);
  const statement = run.stored
    ? CompiledQuery.raw(RECORD_AND_LINK, [run.callId, run.blockKey, run.stored.sha256, ...values])
    : CompiledQuery.raw(RECORD, values);
  const { rows } = await db.executeQuery<Recorded>(statement).catch(rethrowAsRunNotFound(run.callId));
  const recorded = rows[0] ?? { recorded: false, cancelled: false, uncharged: 0 };
  if (recorded.recorded) measure(run, row, recorded.uncharged);
  return recorded;
}

function measure(
  run: BlockRun,
  { status, latency_ms: ms }: { status: string; latency_ms: number },
  uncharged: number,
): void {
  const type = run.processorType;
  blockDuration.record(ms / 1_000, { type, outcome: status });
  if (run.error && status === 'failed') blockFailures.add(1, { type, 'error.type': run.error.code });
  if (!run.costMicrocredits) return;
  creditsCharged.add((run.costMicrocredits - uncharged) / MICROCREDITS_PER_CREDIT, { type });
  creditsUncharged.add(uncharged / MICROCREDITS_PER_CREDIT, { type });
}

/**
 * Whether recording a block execution charges or releases credits, and so locks the organization's balance. Code with
 * reserved credits may cost nothing, for example when it crashes its process.
 */
export function isCharged(run: Pick<BlockRun, 'processorType' | 'costMicrocredits' | 'reserved'>): boolean {
  return run.processorType === 'llm' || run.reserved === true || (run.costMicrocredits ?? 0) > 0;
}

/**
 * Loads the recorded output of a block, or the conversation of a paused one; `bytes` as JSON. Throws the error of a
 * failed block, and CANCELLED for a stopped one.
 */
export async function loadBlockOutput(
  db: Db,
  callId: string,
  blockKey: string,
): Promise<{ output: Json; bytes: number; paused: boolean; finishedAt: Date }> {
  const row = await db
    .selectFrom('block_run')
    .select(['output', 'status', 'error', 'finished_at'])
    .select([outputBytes.as('bytes'), outputObject.as('object')])
    .where('execution_id', '=', callId)
    .where('block_key', '=', blockKey)
    .executeTakeFirst();
  if (!row) throw outputNotFound(callId, blockKey);
  const error = row.status === 'cancelled' ? CANCELLED : row.error;
  if (error) throw new ServiceError(error.code, error.message);
  const { bytes, status, finished_at: finishedAt, object } = row;
  const output = object ? JSON.parse(await readStoredOutput(db, callId, blockKey, object)) : row.output;
  return { output, bytes: bytes ?? 0, paused: status === 'paused', finishedAt };
}

/** The columns of a block execution for callers and operators. */
export const BLOCK_RUN_COLUMNS = [
  'block_run.block_key',
  'block_run.step_id',
  'block_run.name',
  'block_run.processor_type',
  'block_run.status',
  'block_run.error',
  'block_run.model',
  'block_run.prompt_tokens',
  'block_run.cached_tokens',
  'block_run.cache_write_tokens',
  'block_run.completion_tokens',
  'block_run.reasoning_tokens',
  'block_run.usage_estimated',
  'block_run.cost_microcredits',
  'block_run.uncharged_microcredits',
  'block_run.latency_ms',
  'block_run.attempts',
  'block_run.pinned',
] as const;

/**
 * Lists the block executions of all calls of a run in the order they started, without inputs and outputs; with
 * `untilCallId`, up to that call.
 */
export function listBlockRuns(db: Db, executionId: string, untilCallId?: string) {
  if (untilCallId === executionId)
    return selectBlockRuns(db).where('execution_id', '=', untilCallId).execute();
  return selectBlockRunsOf(db, executionId, untilCallId).execute();
}

/** Selects the block executions of all calls of a run as `selectBlockRuns` does; with `untilCallId`, up to that call. */
export function selectBlockRunsOf(db: Db, executionId: string, untilCallId?: string) {
  const lastStart = db.selectFrom('run as last').select('last.started_at');
  return selectBlockRuns(db).where('execution_id', 'in', (query) =>
    query
      .selectFrom('run')
      .select('run.execution_id')
      .where(isCallOf(executionId))
      .$if(untilCallId !== undefined, (run) =>
        run.where('run.started_at', '<=', lastStart.where('last.execution_id', '=', untilCallId as string)),
      ),
  );
}

/** Approximate memory of one listed block execution: as a row, and as JSON in a response. */
export const BLOCK_RUN_BYTES = 1_000;

/** Counts the block executions of all calls of a run. */
export async function countBlockRuns(db: Db, executionId: string): Promise<number> {
  const { count } = await db
    .selectFrom('block_run')
    .innerJoin('run', 'run.execution_id', 'block_run.execution_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where(isCallOf(executionId))
    .executeTakeFirstOrThrow();
  return count;
}

/** Selects block executions in the order they started, without inputs and outputs. */
export function selectBlockRuns(db: Db) {
  return db
    .selectFrom('block_run')
    .select(BLOCK_RUN_COLUMNS)
    .orderBy('block_run.started_at')
    .orderBy('block_key');
}
