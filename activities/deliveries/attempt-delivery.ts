// One attempt of a webhook delivery (docs/webhooks.md).
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import type { Db } from '../../db/connect.ts';
import { logOutage } from '../../db/connection/database-errors.ts';
import {
  type AttemptEnd,
  beginAttempt,
  type DeliveryToAttempt,
  endAttempt,
  findDeliveryToAttempt,
  postponeCheck,
} from '../../db/webhooks/delivery-attempts.ts';
import { ensureSigningSecret } from '../../db/webhooks/webhook-secrets.ts';
import { ATTEMPTS_MAX, type DeliveryCall, OPEN_STATUSES, RETRY_DELAYS_MS } from '../../flow/delivery.ts';
import type { FairQueue } from '../../platform/limits/fair-queue.ts';
import { DestinationBlocked, type GuardedPost, NoAnswer } from '../../platform/net/guarded-post.ts';
import { addToLogContext, log } from '../../platform/observability/log.ts';
import { attemptDuration, deadLetters } from '../../platform/observability/metrics/run-metrics.ts';
import { inSpan, traceHeaders } from '../../platform/observability/tracing.ts';
import type { Encryption } from '../../platform/secrets/encrypt.ts';
import { retryInPlace } from '../attempts/retry-in-place.ts';
import type { Attempt } from '../attempts/run-attempt.ts';
import type { DeliveryGate } from './delivery-gate.ts';
import { buildDeliveryBody, deliveryHeaders } from './delivery-request.ts';
import { isListenerHost, type WebhookListeners } from './webhook-listeners.ts';

export const TEXT_MAX_CHARS = 1_024;

export type DeliveryDeps = {
  db: Db;
  encryption: Encryption;
  post: GuardedPost;
  /** The gate of the bytes of results that are read. */
  inputs: FairQueue;
  /** Present where `weir listen` may be connected to this process. */
  listeners?: WebhookListeners | undefined;
  gate: DeliveryGate;
};

/**
 * `over`: the delivery succeeded, or needs no attempt. Otherwise nothing was sent. `made`: the number of attempts made so
 * far. `dueInMs`: the time until the next attempt.
 */
export type AttemptResult = 'over' | { made: number; dueInMs?: number };

/**
 * Makes attempt `number` of a delivery, unless the delivery is rescheduled or the database is unavailable. If the attempt fails,
 * throws an ApplicationFailure with the delay until the next attempt, or a non-retryable one after the last attempt.
 */
export async function attemptDelivery(
  deps: DeliveryDeps,
  call: DeliveryCall,
  number: number,
  attempt: Pick<Attempt, 'isLocal' | 'signal'>,
): Promise<AttemptResult> {
  const { deliveryId, round } = call;
  addToLogContext({ organization_id: call.organizationId });
  const key = { deliveryId, round, attempt: number };
  const postponed = { made: number - 1 };
  const logError = (error: unknown) => {
    if (!logOutage(error)) log.warn({ err: error }, 'A delivery is postponed.');
    return undefined;
  };
  const found = await findDue(deps.db, call, number).catch(logError);
  if (!found) return postponed;
  if (found === 'over' || 'made' in found) return found;
  const permit = await deps.gate.acquire(call, attempt.signal);
  if ('dueInMs' in permit) {
    await postponeCheck(deps.db, call, permit.dueInMs).catch(logError);
    return { ...postponed, ...permit };
  }
  try {
    const prepared = await prepare(deps, call, found, number, attempt.signal).catch(logError);
    if (!prepared) return postponed;
    if (prepared === 'over') return prepared;
    const startedAt = performance.now();
    const answer = await send(deps, call, prepared, number).then(judge, judgeFailure);
    const isLast = answer.status === 'failed_retry' && number >= ATTEMPTS_MAX;
    const end: AttemptEnd = {
      ...answer,
      requestHeaders: prepared.headers,
      status: isLast ? 'dead_letter' : answer.status,
      durationMs: Math.round(performance.now() - startedAt),
      retryInMs: RETRY_DELAYS_MS[number - 1] ?? 0,
    };
    await retryInPlace(() => endAttempt(deps.db, key, end), attempt);
    attemptDuration.record(end.durationMs / 1_000, { result: end.status });
    if (end.status === 'dead_letter') deadLetters.add(1);
    if (end.status === 'succeeded') return 'over';
    throw toFailure(end, number);
  } finally {
    permit.release();
  }
}

type Prepared = { url: URL; headers: { [name: string]: string }; body: Buffer };
/** Temporal has counted wrong: `made` attempts were made, and the next one is due in `dueInMs`. */
type Miscounted = { made: number; dueInMs: number };

/** Sends the request to the `weir listen` that has the host, otherwise to the public address. */
function send(
  { listeners, post }: DeliveryDeps,
  call: DeliveryCall,
  { url, headers: signed, body }: Prepared,
  number: number,
) {
  // The path and query of a receiver may be a secret.
  const attributes = {
    'http.request.method': 'POST',
    'server.address': url.hostname,
    'server.port': Number(url.port || 443),
    'weir.delivery.id': call.deliveryId,
    'weir.delivery.attempt': number,
  };
  return inSpan('POST', { kind: 'CLIENT', attributes }, async (span) => {
    const headers = { ...signed, ...traceHeaders() };
    const answer = await (listeners && isListenerHost(url.hostname)
      ? listeners.post(call.organizationId, url, headers, body)
      : post(url, headers, body));
    span.set({ 'http.response.status_code': answer.status });
    if (answer.status >= 300) span.fail(String(answer.status));
    return answer;
  });
}

/** Finds a delivery of which attempt `number` is due. */
async function findDue(
  db: Db,
  { deliveryId, round }: DeliveryCall,
  number: number,
): Promise<'over' | Miscounted | DeliveryToAttempt> {
  const delivery = await findDeliveryToAttempt(db, deliveryId);
  if (delivery?.round !== round || !(OPEN_STATUSES as readonly string[]).includes(delivery.status))
    return 'over';
  const made = countMade(delivery);
  if (made >= number) return { made, dueInMs: delivery.due_in_ms };
  // A worker was lost that had begun no attempt, as while it waited for a permit.
  if (delivery.attempt < number - 1) return { made: delivery.attempt, dueInMs: 0 };
  const { execution_id, request_id } = delivery;
  addToLogContext({ ...(execution_id && { execution_id }), ...(request_id && { request_id }) });
  return delivery;
}

/** Prepares the request, and sets the delivery to `in_flight`. What can fail without an attempt is done here. */
async function prepare(
  { db, encryption, inputs }: DeliveryDeps,
  call: DeliveryCall,
  delivery: DeliveryToAttempt,
  attempt: number,
  signal: AbortSignal,
): Promise<'over' | Prepared> {
  const service = { actor: 'service', requestId: randomUUID() };
  const secret = await ensureSigningSecret(db, encryption, delivery.organization_id, service);
  const text = delivery.body ?? (await buildDeliveryBody({ db, inputs }, delivery, signal));
  if (!(await beginAttempt(db, { deliveryId: call.deliveryId, round: call.round, attempt }, text)))
    return 'over';
  const body = Buffer.from(text);
  const headers = deliveryHeaders({ deliveryId: call.deliveryId, event: delivery.event_type, body }, secret);
  return { url: new URL(delivery.target_url), headers, body };
}

/**
 * Counts the attempts of an open delivery whose outcome is known. An attempt in flight may not have been sent. The database
 * counts them, because a Temporal restored from a backup has lost attempts.
 */
function countMade({ status, attempt }: DeliveryToAttempt): number {
  if (status === 'in_flight') return attempt - 1;
  return status === 'failed_retry' ? attempt : 0;
}

type Judgement = Pick<AttemptEnd, 'responseStatus' | 'responseBody' | 'errorMessage'> & {
  status: 'succeeded' | 'failed_retry' | 'failed_permanent';
};

function judge({ status, body }: { status: number; body: Buffer }): Judgement {
  const succeeded = status >= 200 && status < 300;
  const final = status >= 300 && status < 500 && status !== 408 && status !== 429;
  return {
    status: succeeded ? 'succeeded' : final ? 'failed_permanent' : 'failed_retry',
    responseStatus: status,
    responseBody: toStorableText(body.toString()),
    errorMessage: succeeded ? null : `The receiver answered ${status}.`,
  };
}

function judgeFailure(error: unknown): Judgement {
  if (!(error instanceof DestinationBlocked || error instanceof NoAnswer)) throw error;
  return {
    status: error instanceof DestinationBlocked ? 'failed_permanent' : 'failed_retry',
    responseStatus: null,
    responseBody: null,
    errorMessage: toStorableText(error.message),
  };
}

/** Cuts a text from the receiver, and replaces NUL, which a text column does not accept. */
function toStorableText(text: string): string {
  return text.slice(0, TEXT_MAX_CHARS).toWellFormed().replaceAll('\0', '\u{fffd}');
}

/** Creates the failure that operators see in the Temporal Web UI. Temporal waits exactly `nextRetryDelay`. */
function toFailure(end: AttemptEnd, number: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: end.status,
    message: `Attempt ${number} of ${ATTEMPTS_MAX}: ${end.errorMessage}`,
    nonRetryable: end.status !== 'failed_retry',
    nextRetryDelay: end.retryInMs,
  });
}
