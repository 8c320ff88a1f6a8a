// The tables of webhooks: deliveries, their attempts, and signing secrets. The row of a delivery is added by a trigger when a
// run ends; API, temporal/ and activities/ read and move it on. This file has the open deliveries. A workflow carries out each;
// the reconciler starts one where it is missing.
import { sql } from 'kysely';
import type { DeliveryCall, DeliveryStatus } from '../../flow/delivery.ts';
import { OPEN_STATUSES } from '../../flow/delivery.ts';
import type { Db, Tx } from '../connect.ts';
import type { DeliveryPlace } from './deliveries.ts';

const CALL_COLUMNS = [
  'id',
  'organization_id',
  'event_type',
  'target_url',
  'round',
  'attempt',
  'status',
] as const;
type CallRow = {
  id: string;
  organization_id: string;
  event_type: DeliveryCall['event'];
  target_url: string;
  round: number;
  attempt: number;
};

/** Makes the input of a delivery's workflow. */
export function toDeliveryCall(row: CallRow): DeliveryCall {
  return {
    deliveryId: row.id,
    round: row.round,
    made: row.attempt,
    organizationId: row.organization_id,
    event: row.event_type,
    host: new URL(row.target_url).host,
  };
}

/**
 * Finds the delivery that reports the end of a run, unless an attempt of it was begun. Undefined when the run's
 * caller did not ask for that event.
 */
export async function findRunDelivery(db: Db, executionId: string): Promise<DeliveryCall | undefined> {
  const row = await db
    .selectFrom('webhook_delivery')
    .select(CALL_COLUMNS)
    .where('execution_id', '=', executionId)
    .where('status', 'in', OPEN_STATUSES)
    .where('attempt', '=', 0)
    .executeTakeFirst();
  return row && toDeliveryCall(row);
}

/** Adds the delivery of a test event; returns false when it exists. */
export async function insertTestDelivery(
  db: Db | Tx,
  delivery: { id: string; organizationId: string; event: DeliveryCall['event']; url: string; body: string },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('webhook_delivery')
    .values({
      id: delivery.id,
      organization_id: delivery.organizationId,
      event_type: delivery.event,
      target_url: delivery.url,
      body: delivery.body,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** When the reconciler checks a delivery that may begin now, in case its start failed. */
const CHECK_SOON = sql<Date>`now() + interval '30 seconds'`;

/** Begins a new round of a delivery, whose first attempt is due now. */
const NEW_ROUND = {
  status: 'pending',
  attempt: 0,
  response_status: null,
  error_message: null,
  next_attempt_at: sql<Date>`now()`,
  round: sql<number>`round + 1`,
  check_at: CHECK_SOON,
} as const;

/** Rounds of a delivery whose attempts are kept, the new one included. */
export const ROUNDS_KEPT = 20;

/** Deletes the attempts of rounds that are not kept any more, for deliveries that begin a new one. */
async function deleteEarlyRounds(db: Db | Tx, calls: DeliveryCall[]): Promise<void> {
  const full = calls.filter(({ round }) => round > ROUNDS_KEPT);
  if (full.length === 0) return;
  const ids = full.map(({ deliveryId }) => deliveryId);
  const lastRounds = full.map(({ round }) => round - ROUNDS_KEPT);
  await sql`
    delete from webhook_attempt using unnest(${ids}::uuid[], ${lastRounds}::int[]) as early (id, last_round)
    where delivery_id = early.id and webhook_attempt.round <= early.last_round`.execute(db);
}

/** Begins a new round of a delivery, whatever its status; undefined when the organization has no such delivery. */
export async function redeliver(
  db: Db | Tx,
  organizationId: string,
  deliveryId: string,
): Promise<DeliveryCall | undefined> {
  const row = await db
    .updateTable('webhook_delivery')
    .set(NEW_ROUND)
    .where('organization_id', '=', organizationId)
    .where('id', '=', deliveryId)
    .returning(CALL_COLUMNS)
    .executeTakeFirst();
  const call = row && toDeliveryCall(row);
  if (call) await deleteEarlyRounds(db, [call]);
  return call;
}

/**
 * Begins a new round of up to `limit` deliveries `after` a position, and returns them, the oldest first. `next`: the
 * position after which more may be left.
 */
export async function redeliverMany(
  db: Db | Tx,
  filter: {
    organizationId: string;
    since: Date;
    until?: Date | undefined;
    statuses: DeliveryStatus[];
    after?: DeliveryPlace | undefined;
    limit: number;
  },
): Promise<{ calls: DeliveryCall[]; next: DeliveryPlace | null }> {
  const { after } = filter;
  const rows = await db
    .updateTable('webhook_delivery')
    .set(NEW_ROUND)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('webhook_delivery')
        .select('id')
        .where('organization_id', '=', filter.organizationId)
        .where('created_at', '>=', filter.since)
        .$if(filter.until !== undefined, (query) => query.where('created_at', '<', filter.until as Date))
        .where('status', 'in', filter.statuses)
        .$if(after !== undefined, (query) =>
          query.where(sql<boolean>`(created_at, seq) > (${after?.createdAt}, ${after?.seq})`),
        )
        .orderBy('created_at')
        .orderBy('seq')
        .limit(filter.limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning([...CALL_COLUMNS, 'created_at', 'seq'])
    .execute();
  const oldestFirst = rows.toSorted(
    (a, b) => a.created_at.getTime() - b.created_at.getTime() || a.seq - b.seq,
  );
  const calls = oldestFirst.map(toDeliveryCall);
  await deleteEarlyRounds(db, calls);
  const last = oldestFirst[filter.limit - 1];
  return { calls, next: last ? { createdAt: last.created_at, seq: last.seq } : null };
}

/**
 * Claims up to `limit` deliveries that should have made progress by now. Processes that call this at the same time claim
 * different deliveries.
 */
export function claimStalledDeliveries(
  db: Db,
  { againInSeconds, limit }: { againInSeconds: number; limit: number },
) {
  return db
    .updateTable('webhook_delivery')
    .set({ check_at: sql`now() + ${againInSeconds} * interval '1 second'` })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('webhook_delivery')
        .select('id')
        .where('status', 'in', OPEN_STATUSES)
        .where('check_at', '<=', sql<Date>`now()`)
        .orderBy('check_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(CALL_COLUMNS)
    .execute();
}
