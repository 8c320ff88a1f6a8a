// Bulk retries: many retries that one request began, and their progress.
import { type ExpressionBuilder, sql } from 'kysely';
import type { Json } from '../../flow/definition.ts';
import { type ErrorCode, ServiceError } from '../../flow/errors.ts';
import { type Db, inTransaction, type Tx } from '../connect.ts';
import type { Schema } from '../schema.ts';
import type { Refusal } from '../tables/bulk-retries.ts';
import { createTimedId } from '../timed-id.ts';
import { IS_OPEN } from './run-cancellation.ts';

/** Maximum number of refused runs that a bulk retry keeps with their reasons. */
export const REFUSALS_MAX = 100;

/** The bulk retry was cancelled: it starts no further run. */
export class BulkRetryCancelled extends ServiceError {
  constructor() {
    super('CONFLICT', 'This bulk retry was cancelled: start another one, without bulk_id.');
  }
}

/** The runs that a request adds to a bulk retry of a project: their number. */
type Part = { projectId: string; planned: number };

/** Inserts a bulk retry of the actor `startedBy`, and returns its id. */
export async function insertBulkRetry(
  tx: Tx,
  { filter, ...row }: Part & { organizationId: string; startedBy: string; filter: { [field: string]: Json } },
): Promise<string> {
  const id = createTimedId();
  await tx
    .insertInto('bulk_retry')
    .values({
      id,
      organization_id: row.organizationId,
      project_id: row.projectId,
      started_by: row.startedBy,
      filter: JSON.stringify(filter),
      planned: row.planned,
    })
    .execute();
  return id;
}

/**
 * Adds the runs of a further request to a bulk retry, which finds again what an earlier one has not tried. Returns false for an
 * id that the project does not have, and throws BulkRetryCancelled.
 */
export async function continueBulkRetry(
  tx: Tx,
  bulkId: string,
  { projectId, planned }: Part,
): Promise<boolean> {
  const row = await tx
    .updateTable('bulk_retry')
    .set({
      planned: sql`refused + ${planned}::integer
        + (select count(*) from run where run.bulk_id = bulk_retry.id)`,
      stopped_by: null,
    })
    .where('id', '=', bulkId)
    .where('project_id', '=', projectId)
    .returning('cancelled_at')
    .executeTakeFirst();
  if (row?.cancelled_at) throw new BulkRetryCancelled();
  return row !== undefined;
}

/** Makes a cancellation of a bulk retry wait until this transaction has stored a run of it. Throws BulkRetryCancelled. */
export async function requireBulkRetryGoesOn(tx: Db | Tx, bulkId: string): Promise<void> {
  const row = await tx
    .selectFrom('bulk_retry')
    .select('cancelled_at')
    .where('id', '=', bulkId)
    .forShare()
    .executeTakeFirstOrThrow();
  if (row.cancelled_at) throw new BulkRetryCancelled();
}

/** Finds the run of a bulk retry that repeats this one. */
export async function findRetryOf(db: Db, bulkId: string, executionId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('run')
    .select('execution_id')
    .where('bulk_id', '=', bulkId)
    .where('repeats', '=', executionId)
    .executeTakeFirst();
  return row?.execution_id;
}

/** Records how a request of a bulk retry ended. `nextCursor`: where the next one continues. */
export async function endBulkRequest(
  db: Db,
  bulkId: string,
  { refused, ...end }: { refused: Refusal[]; stoppedBy: ErrorCode | null; nextCursor: string | null },
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const row = await tx
      .selectFrom('bulk_retry')
      .select(['refused', 'refusals'])
      .where('id', '=', bulkId)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow();
    await tx
      .updateTable('bulk_retry')
      .set({
        refused: row.refused + refused.length,
        refusals: JSON.stringify([...row.refusals, ...refused].slice(0, REFUSALS_MAX)),
        stopped_by: end.stoppedBy,
        next_cursor: end.nextCursor,
      })
      .where('id', '=', bulkId)
      .execute();
  });
}

/** Marks a bulk retry as cancelled by an actor, once. Returns false for an id that the project does not have. */
export async function markBulkRetryCancelled(
  tx: Tx,
  { projectId, bulkId, actor }: { projectId: string; bulkId: string; actor: string },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('bulk_retry')
    .set({
      cancelled_by: sql`coalesce(cancelled_by, ${actor})`,
      cancelled_at: sql`coalesce(cancelled_at, now())`,
    })
    .where('id', '=', bulkId)
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Lists the runs of a bulk retry that have not ended. */
export async function listOpenRunsOf(tx: Tx, bulkId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('run')
    .select('execution_id')
    .where('bulk_id', '=', bulkId)
    .where(IS_OPEN)
    .execute();
  return rows.map((row) => row.execution_id);
}

/** Finds a bulk retry of a project, with the first refused runs. */
export function findBulkRetry(db: Db, projectId: string, bulkId: string) {
  return selectBulkRetries(db, projectId).select('refusals').where('id', '=', bulkId).executeTakeFirst();
}

/** Lists a page of the bulk retries of a project, newest first. `after`: the last one of the page before. */
export function listBulkRetries(
  db: Db,
  projectId: string,
  { after, limit }: { after?: string | undefined; limit: number },
) {
  return selectBulkRetries(db, projectId)
    .$if(after !== undefined, (query) => query.where('id', '<', after as string))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}
export type BulkRetryRow = Awaited<ReturnType<typeof listBulkRetries>>[number];

function selectBulkRetries(db: Db, projectId: string) {
  return db
    .selectFrom('bulk_retry')
    .select([
      'id',
      'started_by',
      'started_at',
      'filter',
      'planned',
      'refused',
      'stopped_by',
      'next_cursor',
      'cancelled_at',
      'cancelled_by',
    ])
    .select(outcomes)
    .where('project_id', '=', projectId);
}

function outcomes(eb: ExpressionBuilder<Schema, 'bulk_retry'>) {
  return eb
    .selectFrom((from) =>
      from
        .selectFrom('run')
        .select(['outcome', (run) => run.fn.countAll<number>().as('runs')])
        .whereRef('run.bulk_id', '=', 'bulk_retry.id')
        .groupBy('outcome')
        .as('counted'),
    )
    .select(sql<{ [outcome: string]: number } | null>`json_object_agg(outcome, runs)`.as('outcomes'))
    .as('outcomes');
}
