import { sql } from 'kysely';
import { CANCELLED } from '../../flow/run.ts';
import { type Db, inTransaction, type Tx } from '../connect.ts';
import { CALL_IDS, hasLaterCallUnderWay } from './run-columns.ts';

/** A run that was marked as cancelled, and its tenants. */
type CancelledRun = { id: string; organizationId: string; projectId: string };

/** Whether a run is in flight or waits for its caller, worded as in the index `run_open_by_project`. */
export const IS_OPEN = sql<boolean>`run.status in ('started', 'tool_calls_required', 'in_progress')`;

/**
 * Whether a run can be cancelled: it is open, or a session that has ended with one call while another is in flight.
 */
const HAS_NOT_ENDED = sql<boolean>`(${IS_OPEN} or ${hasLaterCallUnderWay()})`;

const IS_STARTED = sql<boolean>`run.status = 'started'`;
/** The audit-log actor of changes by the service itself. */
export const SERVICE = 'service';

/**
 * Returns the assignments of `update run` that mark a run as cancelled by an actor, and end it unless its own row is a call in
 * flight. A cancelled call asks no model any more, so its model keys are cleared.
 */
export const cancellation = (actor: string) => sql`
  cancelled_by = case when run.cancel_requested_at is null then ${actor} else run.cancelled_by end,
  cancel_requested_at = coalesce(run.cancel_requested_at, now()),
  status = case when ${IS_STARTED} then run.status else 'failed' end,
  error = case when ${IS_STARTED} then run.error else ${JSON.stringify(CANCELLED)}::json end,
  finished_at = case when ${IS_STARTED} then run.finished_at else now() end,
  result = case when ${IS_STARTED} then run.result end,
  pause = null,
  model_keys = null`;

/**
 * Marks a run that has not ended, and its calls in flight, as cancelled: from here on they are not charged, and none
 * of their workflows is started. Ends a run that waits for its caller. Returns false when the run had ended or does
 * not exist.
 */
export function requestCancel(db: Db | Tx, executionId: string, actor = SERVICE): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    await lockRun(tx, executionId);
    return markCancelled(tx, executionId, actor);
  });
}

/** Cancels a run as `requestCancel` does, after the transaction has locked it. */
async function markCancelled(tx: Tx, executionId: string, actor: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update run set ${cancellation(actor)} where execution_id = ${executionId} and ${HAS_NOT_ENDED}`.execute(
    tx,
  );
  // Only now, because a later call is accepted before the run is marked, or not at all.
  await tx
    .updateTable('run')
    .set({ cancel_requested_at: sql`coalesce(cancel_requested_at, now())`, model_keys: null })
    .where('continues', '=', executionId)
    .where('status', '=', 'started')
    .execute();
  return numAffectedRows > 0n;
}

/** Locks a run: from here on none of its calls begins or ends, so that a statement sees which are in flight. */
function lockRun(tx: Tx, executionId: string) {
  return tx
    .selectFrom('run')
    .select(['organization_id', 'cancel_requested_at'])
    .where('execution_id', '=', executionId)
    .where('continues', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** The channel for the ids of calls that were cancelled or have failed; a trigger notifies it. */
export const STOPPED_CHANNEL = 'weir_call_stopped';

/** Lists the calls in flight of these runs, whose workflows are to be cancelled. */
export function listUnderWay(db: Db, executionIds: string[]) {
  return db
    .selectFrom('run')
    .select(CALL_IDS)
    .where(
      sql<boolean>`(execution_id = any (${executionIds}::uuid[]) or continues = any (${executionIds}::uuid[]))`,
    )
    .where('status', '=', 'started')
    .execute();
}

/** Lists up to `limit` calls that are in flight although they were marked as cancelled: of any run, or the given call. */
export function listMarkedUnderWay(db: Db, limit: number, callId?: string) {
  return db
    .selectFrom('run')
    .select(CALL_IDS)
    .where('status', '=', 'started')
    .where('cancel_requested_at', 'is not', null)
    .$if(callId !== undefined, (run) => run.where('execution_id', '=', callId as string))
    .limit(limit)
    .execute();
}

/** Returns the runs that are neither ended nor cancelled. */
export async function findCancellable(db: Db, executionIds: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('run')
    .select('execution_id')
    .where(sql<boolean>`execution_id = any (${executionIds}::uuid[])`)
    .where(HAS_NOT_ENDED)
    .where('cancel_requested_at', 'is', null)
    .execute();
  return new Set(rows.map((row) => row.execution_id));
}

/**
 * Marks those of these runs as cancelled that have not ended and were not cancelled, with their calls, as
 * `requestCancel` does for one. Returns them.
 */
export async function cancelRuns(tx: Tx, executionIds: string[], actor = SERVICE): Promise<CancelledRun[]> {
  // Locked by its own statement: from here on none of their calls begins or ends.
  const { rows: locked } = await sql<{ id: string }>`
    select execution_id as id from run
    where execution_id = any (${executionIds}::uuid[]) and continues is null
      and ${HAS_NOT_ENDED} and cancel_requested_at is null
    order by execution_id for no key update`.execute(tx);
  const { rows } = await sql<CancelledRun>`
    update run set ${cancellation(actor)}
    where execution_id = any (${locked.map(({ id }) => id)}::uuid[])
      and ${HAS_NOT_ENDED} and cancel_requested_at is null
    returning execution_id as id, organization_id as "organizationId", project_id as "projectId"`.execute(tx);
  // Only now, because a later call is accepted before its run is marked, or not at all.
  await sql`
    with call as (
      select execution_id from run
      where continues = any (${rows.map(({ id }) => id)}::uuid[]) and status = 'started'
      order by execution_id for no key update
    )
    update run set cancel_requested_at = coalesce(run.cancel_requested_at, now()), model_keys = null from call
    where run.execution_id = call.execution_id`.execute(tx);
  return rows;
}
