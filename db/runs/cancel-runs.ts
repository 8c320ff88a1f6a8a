import { sql } from 'kysely';
import type { Db, Tx } from '../connect.ts';
import { CANCELLATION, CANCELLED_CHANNEL, HAS_NOT_ENDED } from './run-cancellation.ts';

/** A run that was marked as cancelled, and its tenants. */
type CancelledRun = { id: string; organizationId: string; projectId: string };

/** Filters these runs to those that have not ended and were not cancelled. */
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
export async function cancelRuns(tx: Tx, executionIds: string[]): Promise<CancelledRun[]> {
  // Locked by its own statement: from here on none of their calls begins or ends.
  const { rows: locked } = await sql<{ id: string }>`
    select execution_id as id from run
    where execution_id = any (${executionIds}::uuid[]) and continues is null
      and ${HAS_NOT_ENDED} and cancel_requested_at is null
    order by execution_id for no key update`.execute(tx);
  const { rows } = await sql<CancelledRun>`
    update run set ${CANCELLATION}
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
    update run set cancel_requested_at = coalesce(run.cancel_requested_at, now()) from call
    where run.execution_id = call.execution_id`.execute(tx);
  return rows;
}

/** Notifies workers of cancelled runs. They cancel the workflows once the transaction is committed. */
export async function announceCancelled(tx: Tx, executionIds: string[]): Promise<void> {
  await sql`select pg_notify(${CANCELLED_CHANNEL}, id) from unnest(${executionIds}::text[]) as id`.execute(
    tx,
  );
}
