// Retention: deletes old runs, bulk retries, test runs and test deliveries with all their data, except the ledger, usage and the
// audit log.
import { type RawBuilder, sql } from 'kysely';
import { OPEN_STATUSES } from '../../flow/delivery.ts';
import type { Db } from '../connect.ts';
import { countUsageOf } from '../usage/count-usage.ts';
import { doomObjectsOf } from './stored-objects.ts';

const OPEN = sql`any(${sql.val([...OPEN_STATUSES])}::text[])`;

/**
 * Deletes up to `limit` each of runs, test runs and test deliveries without a change for `days`, with their calls,
 * traces and deliveries. Keeps work in flight, and runs that a webhook still reports. Several processes may share the
 * work. Returns the numbers.
 */
export async function deleteOld(
  db: Db,
  days: number,
  limit: number,
): Promise<{ runs: number; testRuns: number; deliveries: number }> {
  const cutoff = sql`now() - ${days} * interval '1 day'`;
  /** Checked a last time after the run's rows are locked, so that changes meanwhile count. */
  const isOver = sql<boolean>`run.status <> 'started' and coalesce(run.finished_at, run.started_at) < ${cutoff}
    and ${lastTimeOf('run')} < ${cutoff}
    and not exists (
      select from run as call where call.continues = run.execution_id
        and (call.status = 'started' or ${lastTimeOf('call')} >= ${cutoff})
    )
    and not exists (
      select from webhook_delivery as delivery where delivery.execution_id = run.execution_id
        and delivery.status = ${OPEN}
    )`;
  const old = sql<{ execution_id: string }>`
    select execution_id from run where continues is null and ${isOver}
    order by coalesce(finished_at, started_at) limit ${limit} for update skip locked`;
  const testRuns = await sql`
    with old as (
      select id from test_run where status <> 'started' and finished_at < ${cutoff}
      limit ${limit} for update skip locked
    ), results as (delete from test_result where test_run_id = any(array(select id from old)))
    delete from test_run where id = any(array(select id from old))`.execute(db);
  const deliveries = await sql`
    with old as (
      select id from webhook_delivery
      where execution_id is null and created_at < ${cutoff} and not status = ${OPEN}
      limit ${limit} for update skip locked
    ), attempts as (delete from webhook_attempt where delivery_id in (select id from old))
    delete from webhook_delivery where id in (select id from old)`.execute(db);
  await sql`
    with old as (
      select id from bulk_retry where started_at < ${cutoff}
        and not exists (select from run where run.bulk_id = bulk_retry.id)
      limit ${limit} for update skip locked
    )
    delete from bulk_retry where id in (select id from old)`.execute(db);
  const runs = await db.transaction().execute(async (tx) => {
    const found = (await old.execute(tx)).rows.map((row) => row.execution_id);
    await sql`
      select from webhook_delivery where execution_id = any(${found}::uuid[])
      order by id for update`.execute(tx);
    const { rows } = await sql<{ execution_id: string }>`
      select execution_id from run where execution_id = any(${found}::uuid[]) and ${isOver}`.execute(tx);
    const roots = rows.map((row) => row.execution_id);
    const calls = await tx
      .selectFrom('run')
      .select('execution_id')
      .where(sql<boolean>`continues = any(${roots}::uuid[])`)
      .orderBy('execution_id')
      // So that no block is recorded for a call that is about to be deleted.
      .forUpdate()
      .execute();
    const ids = [...roots, ...calls.map((call) => call.execution_id)];
    await countUsageOf(tx, ids);
    await doomObjectsOf(tx, ids);
    await sql`
      delete from webhook_attempt using webhook_delivery as delivery
      where delivery_id = delivery.id and delivery.execution_id = any(${ids}::uuid[])`.execute(tx);
    for (const table of ['webhook_delivery', 'block_run', 'idempotency_key', 'reservation', 'run'])
      await sql`delete from ${sql.table(table)} where execution_id = any(${ids}::uuid[])`.execute(tx);
    return roots.length;
  });
  return {
    runs,
    testRuns: Number(testRuns.numAffectedRows),
    deliveries: Number(deliveries.numAffectedRows),
  };
}

/** The time of the last change of a call. A pause has no time of its own, but its block has. */
function lastTimeOf(call: 'run' | 'call'): RawBuilder<Date> {
  const row = sql.table(call);
  return sql`coalesce(${row}.finished_at, case when ${row}.status = 'tool_calls_required' then (
    select max(block.finished_at) from block_run as block where block.execution_id = ${row}.execution_id
  ) end, ${row}.started_at)`;
}
