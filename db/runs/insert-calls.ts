import { sql } from 'kysely';
import pg from 'pg';
import type { WebhookEvent } from '../../flow/delivery.ts';
import { ServiceError } from '../../flow/errors.ts';
import { BLOCK_RUNS_MAX } from '../../flow/limits.ts';
import { notPaused } from '../../flow/tool-calls.ts';
import { runStarts } from '../../platform/observability/metrics/run-metrics.ts';
import { currentTrace } from '../../platform/observability/tracing.ts';
import type { Db, Tx } from '../connect.ts';
import type { Environment, RunMode } from '../schema.ts';
import { runNotFound } from '../stored-values/run-not-found.ts';
import { linkInput, NONE_STORED, replaceInput, type StoredInputs } from '../stored-values/stored-inputs.ts';
import type { StoredRunInput } from '../tables/run-input.ts';
import type { ModelKeys } from '../tenants/model-keys.ts';
import { requireBulkRetryGoesOn } from './bulk-retries.ts';
import { repeatedBy } from './run-columns.ts';
import { isOverQuota, overQuota, withinQuota } from './runs-under-way.ts';

/** Maximum number of block executions of a session before its next call: ten times those of one call. */
export const SESSION_BLOCKS_MAX = 20_000;

/** A row of `run` to insert: a call that begins or continues a run, or a step-through session. */
export type NewCall = {
  /** The call's own id; the run's executionId when the call begins the run. */
  callId: string;
  organizationId: string;
  projectId: string;
  flowId: string;
  flowVersionId: string;
  mode: RunMode;
  environment: Environment;
  input: StoredRunInput;
  /** Maximum number of the organization's runs in flight, including this one; 0 or absent: no limit. */
  underWayMax?: number;
  /** The keys that the request sent, as `sealModelKeys` encrypts them. */
  modelKeys?: ModelKeys | undefined;
  keyId?: string | undefined;
  /** The user whose request began the call. */
  userId?: string | undefined;
  /** The id of the request that began the call. */
  requestId?: string | undefined;
  callback?: { url: string; events: WebhookEvent[] } | undefined;
  /**
   * The run that this one repeats, starting at the step with the index `from` of the plan. `first`: the run with which the
   * chain of repetitions began. `once`: only if no other run of the chain is newer than the repeated one. `bulkId`: the bulk
   * retry that starts it.
   */
  repeats?:
    | { executionId: string; first: string; from: number; once?: boolean; bulkId?: string | undefined }
    | undefined;
  /** `in_progress`: a step-through session, which only its calls execute. */
  status?: 'started' | 'in_progress';
  /**
   * The run that this call continues, and the steps it runs, `from` up to `to` (exclusive) of the plan. `concludes`:
   * whether the end of the call is the end of the run. `after`, for a resume: the call whose pause it ends, null for
   * the first one; with `again`, the failed resume that is tried again. `sessionInput`: the input of a step-through
   * session from here on.
   */
  continues?:
    | {
        executionId: string;
        from: number;
        to: number;
        concludes: boolean;
        after?: string | null;
        again?: true;
        sessionInput?: StoredRunInput;
      }
    | undefined;
};

/**
 * Inserts calls, all or none and once. From here on each is accepted: its workflow finishes it, or the reconciler
 * starts that again. A session comes before its first call. Returns whether the calls are new. A repetition, a resume
 * and a later call of a session need a transaction. Throws EXECUTION_ID_INVALID or CONFLICT when the pause is over,
 * or the session was cancelled or is full; EXECUTION_ID_INVALID or RUN_NOT_FOUND when the run was deleted meanwhile;
 * FLOW_NOT_FOUND when the project was; VersionDeleted when the version was; and RATE_LIMITED when the organization
 * has too many runs in flight. With `stored` inputs it needs a transaction, too, and may throw InputBeingDeleted.
 */
export async function insertCalls(
  db: Db | Tx,
  calls: NewCall[],
  stored: StoredInputs = NONE_STORED,
): Promise<boolean> {
  for (const { callId, repeats } of calls) if (repeats) await lockRepeated(db, callId, repeats);
  const trace = currentTrace();
  const rows = calls.map((call) => ({
    execution_id: call.callId,
    organization_id: call.underWayMax
      ? withinQuota(call.organizationId, call.callId, call.underWayMax)
      : call.organizationId,
    project_id: call.projectId,
    flow_id: call.flowId,
    flow_version_id: call.flowVersionId,
    mode: call.mode,
    environment: call.environment,
    status: call.status ?? ('started' as const),
    input: toColumn(call.input, stored),
    continues: call.continues?.executionId ?? null,
    step_from: call.continues?.from ?? (call.repeats?.from || null),
    step_to: call.continues?.to ?? null,
    concludes: call.continues?.concludes ?? true,
    model_key_providers: call.modelKeys ? Object.keys(call.modelKeys) : null,
    model_keys: call.modelKeys ? JSON.stringify(call.modelKeys) : null,
    key_id: call.keyId ?? null,
    started_by: call.userId ?? null,
    request_id: call.requestId ?? null,
    repeats: call.repeats?.executionId ?? null,
    first_attempt: call.repeats?.first ?? null,
    bulk_id: call.repeats?.bulkId ?? null,
    trace_context: trace ? JSON.stringify(trace) : null,
    callback_url: call.callback?.url ?? null,
    callback_events: call.callback?.events ?? null,
  }));
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('run')
    .values(rows)
    .onConflict((conflict) => conflict.column('execution_id').doNothing())
    .executeTakeFirst()
    .catch(refuseCalls(calls));
  if (numInsertedOrUpdatedRows === 0n) return false;
  // The first call of a session comes with the session's own row.
  for (const { callId, mode, continues } of calls)
    if (mode === 'step' && continues && calls.length === 1)
      await continueSession(db, callId, continues, stored);
    else if (continues?.after !== undefined) await claimPause(db, callId, continues);
  for (const { callId, input } of calls) {
    const object = stored.get(input);
    if (object) await linkInput(db, callId, object);
  }
  for (const { mode, environment, status, continues } of calls)
    if (status !== 'in_progress')
      runStarts.add(1, { mode, environment, kind: continues && calls.length === 1 ? 'continued' : 'new' });
  return true;
}

/**
 * Serializes the repetitions of a run, and of its repetitions. Throws CONFLICT for a second one with `once`, and
 * BulkRetryCancelled.
 */
async function lockRepeated(
  db: Db | Tx,
  callId: string,
  { executionId, first, once, bulkId }: NonNullable<NewCall['repeats']>,
): Promise<void> {
  if (bulkId !== undefined) await requireBulkRetryGoesOn(db, bulkId);
  await db
    .selectFrom('run')
    .select('execution_id')
    .where('execution_id', '=', first)
    .forNoKeyUpdate()
    .execute();
  if (!once) return;
  const repeated = await db
    .selectFrom('run')
    .select(repeatedBy)
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
  const newer = repeated?.repeated_by;
  if (newer && newer !== callId) throw repeatedAlready(newer);
}

/** Continues a session, even an ended one, with a call. Of two resumes of one pause, only the first may. */
async function continueSession(
  db: Db | Tx,
  call: string,
  { executionId, after, sessionInput }: NonNullable<NewCall['continues']>,
  stored: StoredInputs,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('run')
    .set({ status: 'in_progress', finished_at: null, error: null, result: null, concluded_by: call })
    .$if(sessionInput !== undefined, (query) =>
      query.set({ input: toColumn(sessionInput as StoredRunInput, stored) }),
    )
    .where('execution_id', '=', executionId)
    .where('cancel_requested_at', 'is', null)
    .$if(after !== undefined, (query) =>
      query.where('concluded_by', 'is not distinct from', after as string | null),
    )
    .executeTakeFirst();
  if (numUpdatedRows === 0n)
    throw new ServiceError(
      'CONFLICT',
      'The session was cancelled, or another call has continued it meanwhile.',
    );
  if (sessionInput) await replaceInput(db, executionId, stored.get(sessionInput));
  await requireSessionRoom(db, executionId, call);
}

function toColumn(input: StoredRunInput, stored: StoredInputs): string | null {
  return stored.has(input) ? null : JSON.stringify(input);
}

/**
 * The version was found at the beginning of the request and deleted before its run was stored: the snapshot of a
 * draft, or a published version of a deleted flow.
 */
export class VersionDeleted extends Error {
  override readonly name = 'VersionDeleted';
}

/**
 * Makes the handler for errors of inserting calls: the quota is used up, or the project, version or continued run was
 * deleted.
 */
function refuseCalls(calls: NewCall[]) {
  return (error: unknown): never => {
    if (isOverQuota(error)) throw overQuota(calls.at(-1)?.underWayMax ?? 0);
    const constraint = error instanceof pg.DatabaseError ? error.constraint : undefined;
    if (constraint === 'run_project_not_deleted')
      throw new ServiceError('FLOW_NOT_FOUND', 'There is no such flow any more: its project was deleted.');
    if (constraint === 'run_flow_version_id_fkey') throw new VersionDeleted();
    if (constraint !== 'run_continues_fkey') throw error;
    const [call] = calls;
    throw call?.mode === 'step' && call.continues ? runNotFound(call.continues.executionId) : notPaused();
  };
}

/** Claims the pause of a run for a resume; the first of several gets it. A failed run waits for its caller again. */
async function claimPause(
  db: Db | Tx,
  resumedBy: string,
  { executionId, after = null, again }: NonNullable<NewCall['continues']>,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('run')
    .set({ concluded_by: resumedBy })
    .$if(again === true, (query) =>
      query.set({ status: 'tool_calls_required', finished_at: null, error: null }),
    )
    .where('execution_id', '=', executionId)
    .where('status', '=', again ? 'failed' : 'tool_calls_required')
    .where('concluded_by', 'is not distinct from', after)
    .where('cancel_requested_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  const run = await db
    .selectFrom('run')
    .select('status')
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
  throw notPaused(run && { ...run, pause: null });
}

/** The error for repeating a run `once` that was repeated already. */
export function repeatedAlready(executionId: string): ServiceError {
  return new ServiceError('CONFLICT', `This run was run again already, as ${executionId}.`);
}

/**
 * Throws CONFLICT when a session has no room for this further call. The caller has locked the session. A call in
 * flight counts as what it may still execute, and each call as at least one.
 */
export async function requireSessionRoom(db: Db | Tx, executionId: string, callId: string): Promise<void> {
  const { blocks } = await db
    .selectFrom('run as call')
    .select(
      sql<number>`coalesce(sum(case when call.status = 'started' then ${BLOCK_RUNS_MAX} else greatest(1, (
        select count(*) from block_run where block_run.execution_id = call.execution_id
      )) end), 0)::bigint`.as('blocks'),
    )
    .where('call.continues', '=', executionId)
    .where('call.execution_id', '<>', callId)
    .executeTakeFirstOrThrow();
  if (blocks >= SESSION_BLOCKS_MAX) throw sessionFull();
}

function sessionFull(): ServiceError {
  return new ServiceError(
    'CONFLICT',
    `The session has executed ${SESSION_BLOCKS_MAX} blocks, or its calls under way may: wait for these, or go on in a new session. GET …/jobs/{executionId}/fork answers the request that begins it.`,
  );
}
