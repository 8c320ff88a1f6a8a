// db/runs holds runs, their calls, block executions and Idempotency-Keys. Each row of the table `run` is a call. The
// run's id is the id of its first call, or of its session.
import { type Selectable, sql } from 'kysely';
import { CANCELLED, type RunOutcome } from '../../flow/run.ts';
import {
  runDuration,
  runFailures,
  timeToFirstBlock,
} from '../../platform/observability/metrics/run-metrics.ts';
import type { Db, Tx } from '../connect.ts';
import type { RunMode, RunTable } from '../schema.ts';
import { callNotFound, runNotFound } from '../stored-values/run-not-found.ts';
import { inputBytes, inputObject, readInput } from '../stored-values/stored-inputs.ts';
import type { StoredRunInput } from '../tables/run-input.ts';
import { recordStoppedBlocks } from './blocks-under-way.ts';
import {
  costOfRun,
  pauseOfRun,
  RUN_COLUMNS,
  repeatedBy,
  statusOfRun,
  versionOfRun,
  withoutEarlierEnd,
} from './run-columns.ts';

/**
 * Records how a call ended or paused, and the state of its run, unless a later call has continued the run. A call
 * that was asked to cancel ends as cancelled. Returns the recorded outcome; undefined when the call had ended
 * already.
 */
export async function finishRun(
  db: Db | Tx,
  callId: string,
  outcome: RunOutcome,
): Promise<RunOutcome | undefined> {
  if (await recordOutcome(db, callId, outcome)) return outcome;
  const cancelled: RunOutcome = { status: 'failed', error: CANCELLED };
  if (isCancelled(outcome) || !(await recordOutcome(db, callId, cancelled))) return undefined;
  return cancelled;
}

function isCancelled(outcome: RunOutcome): boolean {
  return outcome.status === 'failed' && outcome.error.code === CANCELLED.code;
}

async function recordOutcome(db: Db | Tx, callId: string, outcome: RunOutcome): Promise<boolean> {
  const { status } = outcome;
  const ending = {
    status,
    // The start is by the database's clock too.
    finished_at: status === 'tool_calls_required' ? null : sql<Date>`statement_timestamp()`,
    result: status === 'completed' ? JSON.stringify(outcome.result) : null,
    error: status === 'failed' ? JSON.stringify(outcome.error) : null,
  };
  const pause = status === 'tool_calls_required' ? JSON.stringify(outcome.pause) : null;
  // A step-through session continues after a pause, and after every step but the last.
  const open = sql<boolean>`ended.mode = 'step' and
    (${status} = 'tool_calls_required' or ${status} = 'completed' and not ended.concludes)`;
  const ended = await db
    // The run before its later call, in the order in which cancellation locks them.
    .with('root', (query) =>
      query
        .selectFrom('run')
        .select('execution_id')
        .where('execution_id', '=', (run) =>
          run.selectFrom('run as call').select('call.continues').where('call.execution_id', '=', callId),
        )
        .forNoKeyUpdate(),
    )
    .with('ended', (query) =>
      query
        .updateTable('run')
        .set({ ...ending, pause, model_keys: null })
        .where('execution_id', '=', callId)
        .where((eb) =>
          eb.or([
            eb('continues', 'is', null),
            eb('continues', 'in', (root) => root.selectFrom('root').select('root.execution_id')),
          ]),
        )
        .where('status', '=', 'started')
        .$if(!isCancelled(outcome), (run) => run.where('cancel_requested_at', 'is', null))
        .returning(['execution_id', 'continues', 'concludes', 'mode', 'started_at']),
    )
    .with('continued', (query) =>
      query
        .updateTable('run')
        .from('ended')
        .set({
          ...ending,
          status: sql`case when ${open} then 'in_progress' else ${status} end`,
          finished_at: sql`case when ${open} then null else ${ending.finished_at}::timestamptz end`,
          result: sql`case when ${open} then null else ${ending.result}::json end`,
          concluded_by: sql`ended.execution_id`,
        })
        .whereRef('run.execution_id', '=', 'ended.continues')
        .where('run.cancel_requested_at', 'is', null)
        // A later call of a session may have continued or ended it before this one has ended.
        .where((eb) =>
          eb.or([
            eb('run.concluded_by', 'is', null),
            eb('run.concluded_by', '=', eb.ref('ended.execution_id')),
          ]),
        )
        .returning('run.execution_id'),
    )
    .with('stopped', () =>
      recordStoppedBlocks(sql`select execution_id from ended where ${status}::text = 'failed'`),
    )
    .selectFrom('ended')
    .select(['mode', 'started_at'])
    .executeTakeFirst();
  if (ended) measureEnd(ended.mode, ended.started_at, outcome);
  return ended !== undefined;
}

/**
 * A call for activities. `completed`: its completed or paused blocks; `cancelled`: it was asked to cancel; `ended`:
 * its end is recorded; `awaited`: its caller waits for its end.
 */
export type RunContext = {
  organizationId: string;
  flowVersionId: string;
  /** The id of the request that began the call; null without one. */
  requestId: string | null;
  input: StoredRunInput;
  completed: Set<string>;
  /** Lost workers of each block in flight, by block key. A loss within the first second of a block is not counted. */
  lostWorkers: Map<string, number>;
  cancelled: boolean;
  mode: RunMode;
  /** When the call was accepted. */
  startedAt: Date;
  /** Whether a block of it has begun in this process. */
  begun?: true;
  ended?: true;
  awaited: boolean;
};

/** Whether the caller of such a call waits for its end. */
export function isAwaited(mode: RunMode): boolean {
  return mode === 'execute' || mode === 'step';
}

/** Gets the context of a call. Throws RUN_NOT_FOUND, and the errors of `readInput`. */
export async function getRunContext(db: Db, callId: string): Promise<RunContext> {
  const row = await db
    .selectFrom('run')
    .select(['organization_id', 'flow_version_id', 'request_id', 'input', 'mode', 'started_at'])
    .select(['cancel_requested_at', 'finished_at', inputObject.as('object')])
    .select((eb) =>
      eb
        .selectFrom('block_run')
        .select(sql<string[] | null>`array_agg(block_key)`.as('keys'))
        .where('execution_id', '=', callId)
        .where('status', 'in', ['completed', 'paused'])
        .as('completed'),
    )
    .select((eb) =>
      eb
        .selectFrom('block_under_way')
        .select(
          sql<{ [blockKey: string]: number } | null>`json_object_agg(block_key, attempts)`.as('attempts'),
        )
        .where('execution_id', '=', callId)
        .where('last_error', 'is', null)
        .as('lost'),
    )
    .where('execution_id', '=', callId)
    .executeTakeFirst();
  if (!row) throw callNotFound(callId);
  return {
    organizationId: row.organization_id,
    flowVersionId: row.flow_version_id,
    requestId: row.request_id,
    input: await readInput(db, callId, row),
    completed: new Set(row.completed ?? []),
    lostWorkers: new Map(Object.entries(row.lost ?? {})),
    cancelled: row.cancel_requested_at !== null,
    mode: row.mode,
    startedAt: row.started_at,
    ...(row.finished_at && { ended: true }),
    awaited: isAwaited(row.mode),
  };
}

/** Finds the stored request of a call. Throws the errors of `readInput`. */
export async function findRunInput(db: Db, callId: string): Promise<StoredRunInput | undefined> {
  const row = await db
    .selectFrom('run')
    .select(['input', inputObject.as('object')])
    .where('execution_id', '=', callId)
    .executeTakeFirst();
  return row && readInput(db, callId, row);
}

/** Gets the stored request of a call. Throws RUN_NOT_FOUND, and the errors of `readInput`. */
export async function getRunInput(db: Db, callId: string): Promise<StoredRunInput> {
  const input = await findRunInput(db, callId);
  if (!input) throw callNotFound(callId);
  return input;
}

/** Finds a run of the flow as callers see it, with the number of its version and its cost so far. */
export async function findRun(db: Db, flowId: string, executionId: string) {
  const row = await db
    .selectFrom('run')
    .innerJoin('flow_version', 'flow_version.id', 'run.flow_version_id')
    .select(RUN_COLUMNS)
    .select(['run.result', 'run.concluded_by'])
    .select([
      costOfRun,
      repeatedBy,
      statusOfRun().as('status'),
      pauseOfRun().as('pause'),
      versionOfRun().as('version'),
    ])
    .where('run.continues', 'is', null)
    .where('run.flow_id', '=', flowId)
    .where('run.execution_id', '=', executionId)
    .executeTakeFirst();
  return row && withoutEarlierEnd(row);
}
export type RunRow = NonNullable<Awaited<ReturnType<typeof findRun>>>;

/** Finds the flow of a run. The caller of this function checks whether the user may see the flow. */
export async function findFlowOfRun(db: Db, executionId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('run')
    .select('flow_id')
    .where('execution_id', '=', executionId)
    .where('continues', 'is', null)
    .executeTakeFirst();
  return row?.flow_id;
}

/** Finds how a call ended or paused; undefined while it is in flight. */
export async function findOutcome(db: Db, callId: string): Promise<RunOutcome | undefined> {
  const row = await db
    .selectFrom('run')
    .select(['status', 'result', 'error', 'pause', 'concluded_by'])
    .where('execution_id', '=', callId)
    .executeTakeFirst();
  return row && toOutcome(row);
}

/**
 * Reads the outcome of a call from its row; undefined while it is in flight. The first call of a resumed run ended
 * with its pause; the rest of its row describes the run's later calls. A cancellation removes the pause from that row
 * alone: a later call of a cancelled run (`isOfCancelled`) keeps its own, which nobody can resume.
 */
export function toOutcome(
  row: Pick<Selectable<RunTable>, 'status' | 'result' | 'error' | 'pause' | 'concluded_by'> & {
    isOfCancelled?: boolean;
  },
): RunOutcome | undefined {
  const { status, result, error, pause } = row;
  if (row.isOfCancelled && pause) return { status: 'failed', error: CANCELLED };
  if (row.concluded_by && pause) return { status: 'tool_calls_required', pause };
  if (status === 'failed' && error) return { status, error };
  if (status === 'completed' && result) return { status, result };
  if (status === 'tool_calls_required' && pause) return { status, pause };
  return undefined;
}

/** Records how long a call has waited for its first block. */
export function measureBegin(mode: RunMode, startedAt: Date): void {
  timeToFirstBlock.record(secondsSince(startedAt), { mode });
}

/** Records the end or pause of a call as a metric. */
export function measureEnd(mode: RunMode, startedAt: Date, outcome: RunOutcome): void {
  const code = outcome.status === 'failed' ? outcome.error.code : undefined;
  const isCancelled = code === 'CANCELLED';
  runDuration.record(secondsSince(startedAt), { mode, outcome: isCancelled ? 'cancelled' : outcome.status });
  if (code && !isCancelled) runFailures.add(1, { mode, 'error.type': code });
}

/** The clocks of the machine and of the database may differ. */
function secondsSince(moment: Date): number {
  return Math.max(0, Date.now() - moment.getTime()) / 1_000;
}

/**
 * Gets the request that began a run, with its callback and the providers for which it sent keys. `bytes`: the size of
 * its input as JSON, which is not included. Throws RUN_NOT_FOUND.
 */
export async function getRequestOfRun(db: Db, executionId: string) {
  return db
    .selectFrom('run')
    .select([
      'request_id as requestId',
      'callback_url as callbackUrl',
      'callback_events as callbackEvents',
      'model_key_providers as modelKeyProviders',
    ])
    .select(inputBytes.as('bytes'))
    .where('execution_id', '=', executionId)
    .executeTakeFirstOrThrow(() => runNotFound(executionId));
}
