// Reads and writes of attempts. Each write is one statement.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  type DeliveryCall,
  type DeliveryStatus,
  OPEN_STATUSES,
  RETRY_BACKOFF,
  RETRY_DELAY_MAX_MS,
  RETRY_DELAYS_MS,
} from '../../flow/delivery.ts';
import { deadLetters } from '../../platform/observability/metrics/run-metrics.ts';
import type { Db } from '../connect.ts';

/** Longer than any attempt takes. */
const ATTEMPT_SECONDS = 120;

type AttemptKey = { deliveryId: string; round: number; attempt: number };

/** Finds a delivery with the run that it reports. */
export function findDeliveryToAttempt(db: Db, deliveryId: string) {
  return db
    .selectFrom('webhook_delivery')
    .leftJoin('run', 'run.execution_id', 'webhook_delivery.execution_id')
    .select([
      'webhook_delivery.status',
      'webhook_delivery.round',
      'webhook_delivery.attempt',
      // 0 when it is overdue or unknown.
      sql<number>`greatest(ceil(extract(epoch from next_attempt_at - now()) * 1000), 0)::float8`.as(
        'due_in_ms',
      ),
      'webhook_delivery.organization_id',
      'webhook_delivery.event_type',
      'webhook_delivery.target_url',
      'webhook_delivery.body',
      'webhook_delivery.execution_id',
      'run.flow_id',
      'run.request_id',
      'run.result',
      'run.error',
      'run.started_at',
      'run.finished_at',
    ])
    .where('webhook_delivery.id', '=', deliveryId)
    .executeTakeFirst();
}
export type DeliveryToAttempt = NonNullable<Awaited<ReturnType<typeof findDeliveryToAttempt>>>;

/** Lets the reconciler check a delivery after its next attempt, which is due in `dueInMs`. */
export async function postponeCheck(
  db: Db,
  { deliveryId, round }: Pick<DeliveryCall, 'deliveryId' | 'round'>,
  dueInMs: number,
): Promise<void> {
  await db
    .updateTable('webhook_delivery')
    .set({
      check_at: sql`now() + ${dueInMs} * interval '1 millisecond' + ${ATTEMPT_SECONDS} * interval '1 second'`,
    })
    .where('id', '=', deliveryId)
    .where('round', '=', round)
    .where('status', 'in', OPEN_STATUSES)
    .execute();
}

/** Marks the delivery as in flight and stores its `body`; returns false when the round is over. May be repeated. */
export async function beginAttempt(db: Db, key: AttemptKey, body: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .with('begun', (cte) =>
      cte
        .updateTable('webhook_delivery')
        .set({
          status: 'in_flight',
          attempt: key.attempt,
          last_attempted_at: sql`now()`,
          // From the previous attempt.
          response_status: null,
          error_message: null,
          next_attempt_at: null,
          body,
          check_at: sql`now() + ${ATTEMPT_SECONDS} * interval '1 second'`,
        })
        .where('id', '=', key.deliveryId)
        .where('round', '=', key.round)
        .where('status', 'in', OPEN_STATUSES)
        .returning('id'),
    )
    .insertInto('webhook_attempt')
    .columns(['delivery_id', 'round', 'attempt'])
    .expression((eb) =>
      eb
        .selectFrom('begun')
        .select(['id', sql.lit(key.round).as('round'), sql.lit(key.attempt).as('attempt')]),
    )
    .onConflict((conflict) =>
      conflict.columns(['delivery_id', 'round', 'attempt']).doUpdateSet({ started_at: sql`now()` }),
    )
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** The end of an attempt; `retryInMs` applies to `failed_retry`. */
export type AttemptEnd = {
  status: Exclude<DeliveryStatus, 'pending' | 'in_flight'>;
  durationMs: number;
  requestHeaders: { [name: string]: string };
  responseStatus: number | null;
  responseBody: string | null;
  errorMessage: string | null;
  retryInMs: number;
};

/**
 * Records the end of an attempt, and of its delivery unless that was sent again meanwhile. May be repeated. A
 * delivery that was abandoned because its worker seemed lost ends as this attempt did, unless another attempt
 * follows.
 */
export async function endAttempt(db: Db, key: AttemptKey, end: AttemptEnd): Promise<void> {
  const next =
    end.status === 'failed_retry' ? sql<Date>`now() + ${end.retryInMs} * interval '1 millisecond'` : null;
  await db
    .with('attempt', (cte) =>
      cte
        .updateTable('webhook_attempt')
        .set({
          duration_ms: end.durationMs,
          request_headers: JSON.stringify(end.requestHeaders),
          response_status: end.responseStatus,
          response_body: end.responseBody,
          error_message: end.errorMessage,
        })
        .where('delivery_id', '=', key.deliveryId)
        .where('round', '=', key.round)
        .where('attempt', '=', key.attempt),
    )
    .updateTable('webhook_delivery')
    .set({
      status: end.status,
      response_status: end.responseStatus,
      error_message: end.errorMessage,
      next_attempt_at: next,
      check_at: sql`coalesce(${next}, now()) + ${ATTEMPT_SECONDS} * interval '1 second'`,
    })
    .where('id', '=', key.deliveryId)
    .where('round', '=', key.round)
    .where('attempt', '=', key.attempt)
    .where((eb) =>
      eb.or([
        eb('status', 'in', OPEN_STATUSES),
        ...(end.status === 'failed_retry' ? [] : [isAbandoned(key)]),
      ]),
    )
    .execute();
}

/** The condition that a delivery was given up without a recorded end of its attempt. */
function isAbandoned({ deliveryId, round, attempt }: AttemptKey): RawBuilder<SqlBool> {
  return sql<SqlBool>`status = 'dead_letter' and exists (
    select from webhook_attempt where delivery_id = ${deliveryId} and webhook_attempt.round = ${round}
      and webhook_attempt.attempt = ${attempt} and duration_ms is null)`;
}

/**
 * Ends a round whose workflow ended without recording it. Does nothing for a delivery that has ended or was sent
 * again.
 */
export async function abandonDelivery(
  db: Db,
  { deliveryId, round }: Pick<DeliveryCall, 'deliveryId' | 'round'>,
  errorMessage: string,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_delivery')
    .set({ status: 'dead_letter', error_message: errorMessage, next_attempt_at: null })
    .where('id', '=', deliveryId)
    .where('round', '=', round)
    .where('status', 'in', OPEN_STATUSES)
    .executeTakeFirst();
  deadLetters.add(Number(numUpdatedRows));
}

/**
 * Records that the worker of an attempt, other than the last, was lost: the attempt has failed, and its workflow
 * makes the next one by its activity's retry policy (`deliveryActivities`).
 */
export async function recordCutAttempt(db: Db, key: AttemptKey): Promise<void> {
  const delayMs = Math.min(
    (RETRY_DELAYS_MS[0] ?? 0) * RETRY_BACKOFF ** (key.attempt - 1),
    RETRY_DELAY_MAX_MS,
  );
  const next = sql<Date>`last_attempted_at + ${Math.round(delayMs)} * interval '1 millisecond'`;
  await db
    .updateTable('webhook_delivery')
    .set({
      status: 'failed_retry',
      error_message: 'The attempt was cut off: its worker was lost.',
      next_attempt_at: next,
      check_at: sql`${next} + ${ATTEMPT_SECONDS} * interval '1 second'`,
    })
    .where('id', '=', key.deliveryId)
    .where('round', '=', key.round)
    .where('attempt', '=', key.attempt)
    .where('status', '=', 'in_flight')
    .execute();
}
