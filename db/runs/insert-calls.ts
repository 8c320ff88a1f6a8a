// Accepting runs, and calls that carry one on.
import pg from 'pg';
import type { WebhookEvent } from '../../flow/delivery.ts';
import { ServiceError } from '../../flow/errors.ts';
import { notPaused } from '../../flow/tool-calls.ts';
import type { Db, Tx } from '../connect.ts';
import { runNotFound } from '../run-not-found.ts';
import type { Environment, RunMode, StoredRunInput } from '../schema.ts';

export type NewCall = {
  /** Of the call that the row is; of the run, where it begins one. */
  callId: string;
  organizationId: string;
  projectId: string;
  flowId: string;
  flowVersionId: string;
  mode: RunMode;
  environment: Environment;
  input: StoredRunInput;
  /** Those for which the request brought a key. */
  modelKeyProviders?: string[] | undefined;
  callback?: { url: string; events: WebhookEvent[] } | undefined;
  /** `in_progress`: a step-through session, which is itself never carried out. */
  status?: 'started' | 'in_progress';
  /**
   * The run that this one goes on with, and the steps it runs, `from` up to `to` (exclusive) of the plan; `concludes`:
   * whether its end is that run's end. `after`, of a resume: the continuation whose pause it ends, null for the run's own.
   * `anew`: what later calls of a step-through session go by from here on.
   */
  continues?:
    | {
        executionId: string;
        from: number;
        to: number;
        concludes: boolean;
        after?: string | null;
        anew?: StoredRunInput;
      }
    | undefined;
};

/**
 * Accepts runs, together and once: from here on each is finished by its workflow, or started anew by the reconciler.
 * A continuation comes after what it continues. Answers whether they were not there yet. A resume, and a later call of a
 * session, need a transaction: throws EXECUTION_ID_INVALID or CONFLICT when its pause is over, or the session cancelled,
 * EXECUTION_ID_INVALID or RUN_NOT_FOUND when it was deleted meanwhile, and FLOW_NOT_FOUND when its project was.
 */
export async function insertCalls(db: Db | Tx, runs: NewCall[]): Promise<boolean> {
  const rows = runs.map((run) => ({
    execution_id: run.callId,
    organization_id: run.organizationId,
    project_id: run.projectId,
    flow_id: run.flowId,
    flow_version_id: run.flowVersionId,
    mode: run.mode,
    environment: run.environment,
    status: run.status ?? ('started' as const),
    input: JSON.stringify(run.input),
    continues: run.continues?.executionId ?? null,
    step_from: run.continues?.from ?? null,
    step_to: run.continues?.to ?? null,
    concludes: run.continues?.concludes ?? true,
    model_key_providers: run.modelKeyProviders ?? null,
    callback_url: run.callback?.url ?? null,
    callback_events: run.callback?.events ?? null,
  }));
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('run')
    .values(rows)
    .onConflict((conflict) => conflict.column('execution_id').doNothing())
    .executeTakeFirst()
    .catch(refuseDeleted(runs));
  if (numInsertedOrUpdatedRows === 0n) return false;
  // The first call comes with its session.
  for (const { callId, mode, continues } of runs)
    if (mode === 'step' && continues && runs.length === 1) await goOn(db, callId, continues);
    else if (continues?.after !== undefined)
      await takePause(db, callId, continues.executionId, continues.after);
  return true;
}

/** A session, also one that had ended, goes on with a call; not with two resumes of one pause. */
async function goOn(
  db: Db | Tx,
  call: string,
  { executionId, after, anew }: NonNullable<NewCall['continues']>,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('run')
    .set({ status: 'in_progress', finished_at: null, error: null, result: null, concluded_by: call })
    .$if(anew !== undefined, (query) => query.set({ input: JSON.stringify(anew) }))
    .where('execution_id', '=', executionId)
    .where('cancel_requested_at', 'is', null)
    .$if(after !== undefined, (query) =>
      query.where('concluded_by', 'is not distinct from', after as string | null),
    )
    .executeTakeFirst();
  if (numUpdatedRows === 0n)
    throw new ServiceError('CONFLICT', 'The session was cancelled, or another call has gone on with it.');
}

/** For the error of storing calls: says that their project, or the run they go on with, is gone where it means that. */
function refuseDeleted(calls: NewCall[]) {
  return (error: unknown): never => {
    const constraint = error instanceof pg.DatabaseError ? error.constraint : undefined;
    if (constraint === 'run_project_not_deleted')
      throw new ServiceError('FLOW_NOT_FOUND', 'There is no such flow any more: its project was deleted.');
    if (constraint !== 'run_continues_fkey') throw error;
    const [call] = calls;
    throw call?.mode === 'step' && call.continues ? runNotFound(call.continues.executionId) : notPaused();
  };
}

/** Of several resumes of one pause, the first gets it. */
async function takePause(db: Db | Tx, resumedBy: string, executionId: string, after: string | null) {
  const { numUpdatedRows } = await db
    .updateTable('run')
    .set({ concluded_by: resumedBy })
    .where('execution_id', '=', executionId)
    .where('status', '=', 'tool_calls_required')
    .where('concluded_by', 'is not distinct from', after)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw notPaused();
}
