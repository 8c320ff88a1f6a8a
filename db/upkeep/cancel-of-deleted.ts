// Cancels the work of deleted projects: runs, test runs and deliveries in flight, and runs that wait for their
// caller.
import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../connect.ts';
import { cancellation, IS_OPEN, requestCancel, SERVICE } from '../runs/run-cancellation.ts';
import { CALL_IDS } from '../runs/run-columns.ts';
import { cancelDeliveries } from '../webhooks/deliveries.ts';

const LEFT_MAX = 100;
/** Runs that one statement marks: about a second's work. */
const MARKED_MAX = 5_000;

/** The numbers of cancelled items. A run counts once, however many calls it has; runs of test cases do not count. */
export type Cancelled = { runs: number; testRuns: number; deliveries: number };

const COUNTS = sql<boolean>`continues is null and mode <> 'test'`;

/**
 * Cancels everything in flight in projects that `tx` has deleted. `all`: these were all projects of the organization,
 * whose test deliveries are cancelled too. Counts runs beyond some thousands, and runs that are being charged at the
 * moment, but leaves them to `cancelLeft`, because others wait for the organization's row, which `tx` has locked.
 */
export async function cancelOfDeleted(
  tx: Tx,
  actor: string,
  { organizationId, projectIds, all }: { organizationId: string; projectIds: string[]; all: boolean },
): Promise<Cancelled> {
  const ofProjects = sql<boolean>`run.project_id = any (${projectIds}::uuid[])`;
  const marked = await markSome(tx, ofProjects, actor);
  const { rows: left } = await sql<{ runs: number }>`
    select count(*) as runs from run
    where ${ofProjects} and ${IS_OPEN} and cancel_requested_at is null and ${COUNTS}`.execute(tx);
  const { numAffectedRows: testRuns = 0n } = await sql`
    update test_run set cancel_requested_at = now() from flow
    where flow.id = test_run.flow_id and flow.project_id = any (${projectIds}::uuid[])
      and test_run.status = 'started' and test_run.cancel_requested_at is null`.execute(tx);
  const ofRuns = sql`exists (
    select from run where run.execution_id = webhook_delivery.execution_id and ${ofProjects}
  )`;
  const which = sql`organization_id = ${organizationId} and (${sql.lit(all)} or ${ofRuns})`;
  const deliveries = await cancelDeliveries(tx, which);
  const runs = marked.runs + (left[0]?.runs ?? 0);
  return { runs, testRuns: Number(testRuns), deliveries };
}

/** Marks runs that nobody has locked: `all` of them, of which `runs` count. */
async function markSome(
  db: Db | Tx,
  which: RawBuilder<boolean>,
  actor: string,
): Promise<{ all: number; runs: number }> {
  const { rows } = await sql<{ all: number; runs: number }>`
    with free as (
      select execution_id from run where ${which} and ${IS_OPEN} and cancel_requested_at is null
      limit ${MARKED_MAX} for no key update skip locked
    ), marked as (
      update run set ${cancellation(actor)} from free where run.execution_id = free.execution_id
      returning run.continues, run.mode
    )
    select count(*) as all, count(*) filter (where ${COUNTS}) as runs from marked`.execute(db);
  return rows[0] ?? { all: 0, runs: 0 };
}

/**
 * Marks the runs of deleted projects that `cancelOfDeleted` left, and cancels deliveries that such runs added at
 * their end: in the projects `projectIds`, or in all projects deleted within a day.
 */
export async function cancelLeft(
  db: Db,
  { projectIds, signal }: { projectIds?: string[]; signal?: AbortSignal } = {},
): Promise<void> {
  const deleted = projectIds
    ? sql`project.id = any (${projectIds}::uuid[])`
    : sql`project.deleted_at > now() - interval '1 day'`;
  const ofDeleted = sql<boolean>`run.project_id in (select project.id from project where ${deleted})`;
  while ((await markSome(db, ofDeleted, SERVICE)).all === MARKED_MAX && !signal?.aborted);
  while (!signal?.aborted) {
    const { rows } = await sql<{ id: string }>`
      select run.execution_id as id from project join run on run.project_id = project.id
      where ${deleted} and ${IS_OPEN} and run.cancel_requested_at is null limit ${LEFT_MAX}`.execute(db);
    for (const { id } of rows) await requestCancel(db, id);
    if (rows.length < LEFT_MAX) break;
  }
  await cancelDeliveries(
    db,
    sql`organization_id in (select organization_id from project where ${deleted})
      and exists (
        select from run join project on project.id = run.project_id
        where run.execution_id = webhook_delivery.execution_id and ${deleted}
      )`,
  );
}

/** Lists workflows of deleted projects that are still to be cancelled: up to `limit` calls, and test runs. */
export async function listCancelled(db: Db, projectIds: string[], limit: number) {
  const runs = await db
    .selectFrom('run')
    .select(CALL_IDS)
    .where(sql<boolean>`project_id = any (${projectIds}::uuid[])`)
    .where(IS_OPEN)
    .where('status', '=', 'started')
    .where('cancel_requested_at', 'is not', null)
    .limit(limit)
    .execute();
  const testRuns = await db
    .selectFrom('test_run')
    .innerJoin('flow', 'flow.id', 'test_run.flow_id')
    .select('test_run.id')
    .where(sql<boolean>`flow.project_id = any (${projectIds}::uuid[])`)
    .where('test_run.status', '=', 'started')
    .limit(limit)
    .execute();
  return { runs, testRuns: testRuns.map(({ id }) => id) };
}
