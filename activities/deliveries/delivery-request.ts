// The request of a webhook delivery: its payload and its headers (docs/webhooks.md).

import { createHmac } from 'node:crypto';
import type { Db } from '../../db/connect.ts';
import { measureValue, readResultText } from '../../db/stored-values/load-references.ts';
import type { DeliveryToAttempt } from '../../db/webhooks/delivery-attempts.ts';
import { SECRET_PREFIX } from '../../db/webhooks/webhook-secrets.ts';
import type { DeliveryPayload } from '../../flow/delivery.ts';
import { ServiceError } from '../../flow/errors.ts';
import { bytesToLoad, sizeOf, type Value } from '../../flow/value.ts';
import type { FairQueue } from '../../platform/limits/fair-queue.ts';
import { log } from '../../platform/observability/log.ts';

export const DELIVERY_BODY_MAX_BYTES = 256 * 1024;

/** `inputs`: the gate of the bytes that are read. */
type Deps = { db: Db; inputs: FairQueue };

/**
 * Builds the body of a run's delivery, up to DELIVERY_BODY_MAX_BYTES bytes. Omits a result that does not fit or is lost.
 * Rejects with the signal's reason.
 */
export async function buildDeliveryBody(
  { db, inputs }: Deps,
  delivery: Omit<DeliveryToAttempt, 'attempt' | 'due_in_ms'>,
  signal?: AbortSignal,
): Promise<string> {
  const { event_type, execution_id, flow_id, organization_id, result, error, started_at, finished_at } =
    delivery;
  if (!execution_id || !flow_id || !started_at || !finished_at)
    throw new Error('A delivery without a stored body must belong to a run that has ended.');
  const payload = {
    event: event_type,
    executionId: execution_id,
    flowId: flow_id,
    organizationId: organization_id,
    durationMs: Math.max(0, finished_at.getTime() - started_at.getTime()),
    occurredAt: finished_at.toISOString(),
  };
  if (error) {
    const errorMessage = `${error.code}: ${error.message}`;
    return toBody({ ...payload, errorMessage, failureReason: error.reason });
  }
  const truncated = (originalResultBytes: number) =>
    toBody({ ...payload, result: null, truncated: true, originalResultBytes });
  // A result that is known to be too long is not read.
  const bytes = result ? measure(result) : 0;
  if (bytes > DELIVERY_BODY_MAX_BYTES) return truncated(bytes);
  if (!result) return toBody({ ...payload, result });
  const read = await measureValue(db, execution_id, result);
  using _permit = await inputs.acquire(organization_id, { weight: read, signal });
  try {
    const text = await readResultText(db, execution_id, result);
    // One that was not measured is not parsed either: a message may be as large as a request.
    const length = Buffer.byteLength(text);
    if (length > DELIVERY_BODY_MAX_BYTES) return truncated(length);
    const body = toBody({ ...payload, result: JSON.parse(text) });
    return Buffer.byteLength(body) <= DELIVERY_BODY_MAX_BYTES ? body : truncated(length);
  } catch (error) {
    // An outage ends, so the attempt is retried. A refused or lost value fails at each attempt.
    if (!(error instanceof ServiceError)) throw error;
    log.warn({ execution_id, err: error }, 'A delivery goes out without its result, which cannot be read.');
    return truncated(bytes || Math.max(sizeOf(result), bytesToLoad(result)));
  }
}

/**
 * Returns the exact size of a result as JSON, in bytes. NaN if only a read can measure it: a result with the message or items
 * of an output. (Workflows use `sizeOf`.)
 */
function measure(value: Value): number {
  if ('items' in value)
    return Math.max(
      2,
      value.items.reduce((sum, item) => sum + 1 + measure(item), 1),
    );
  if ('branches' in value)
    return Object.entries(value.branches).reduce((sum, [name, branch]) => {
      return sum + Buffer.byteLength(JSON.stringify(name)) + 2 + measure(branch);
    }, 1);
  if (value.json !== undefined) return Buffer.byteLength(JSON.stringify(value.json));
  return value.at ? Number.NaN : (value.exactBytes ?? value.bytes ?? Number.NaN);
}

function toBody(payload: DeliveryPayload): string {
  return JSON.stringify(payload);
}

/**
 * Returns the headers of one attempt, signed now over the exact bytes of `body`. The key of X-Weir-Signature is the secret
 * as its owner sees it, `whsec_` included; the key of webhook-signature is the bytes that its base64 encodes, as the
 * Standard Webhooks specification has it.
 */
export function deliveryHeaders(
  { deliveryId, event, body }: { deliveryId: string; event: string; body: Buffer },
  { current, previous }: { current: string; previous: string | null },
): { [name: string]: string } {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const sign = (secret: string) => hmac(secret, `${timestamp}.`, body).toString('hex');
  const signStandard = (secret: string) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return `v1,${hmac(key, `${deliveryId}.${timestamp}.`, body).toString('base64')}`;
  };
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Weir-Webhooks/1.0',
    'X-Weir-Event': event,
    'X-Weir-Delivery': deliveryId,
    'X-Weir-Timestamp': timestamp,
    'X-Weir-Signature': `t=${timestamp},v1=${sign(current)}${previous === null ? '' : `,v2=${sign(previous)}`}`,
    'webhook-id': deliveryId,
    'webhook-timestamp': timestamp,
    'webhook-signature': [current, ...(previous === null ? [] : [previous])].map(signStandard).join(' '),
  };
}

function hmac(key: string | Buffer, prefix: string, body: Buffer): Buffer {
  return createHmac('sha256', key).update(prefix).update(body).digest();
}
