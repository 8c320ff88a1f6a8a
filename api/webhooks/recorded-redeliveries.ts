// Webhooks sent on request, over HTTP and by the `weir` command. Each records itself in the audit log. The caller
// starts the deliveries after the transaction; otherwise a worker does.
import { randomUUID } from 'node:crypto';
import type { Tx } from '../../db/connect.ts';
import { type Author, recordChange } from '../../db/tenants/audit-entries.ts';
import type { DeliveryPlace } from '../../db/webhooks/deliveries.ts';
import { insertTestDelivery, redeliver, redeliverMany } from '../../db/webhooks/open-deliveries.ts';
import type { DeliveryCall, DeliveryPayload, WebhookEvent } from '../../flow/delivery.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { deliveryNotFound } from './delivery-records.ts';

/** Maximum number of deliveries that one request sends again. */
export const RECOVERED_MAX = 1_000;

/** Begins a new round of a delivery, whatever its status. Throws NOT_FOUND. */
export async function redeliverDelivery(
  tx: Tx,
  author: Author,
  organizationId: string,
  deliveryId: string,
): Promise<DeliveryCall> {
  const again = UUID_PATTERN.test(deliveryId) && (await redeliver(tx, organizationId, deliveryId));
  if (!again) throw deliveryNotFound();
  await recordChange(tx, author, {
    organizationId,
    action: 'webhook_delivery.redeliver',
    resourceId: again.deliveryId,
  });
  return again;
}

/**
 * Begins a new round for failed deliveries of a period, at most RECOVERED_MAX. Returns the `next`
 * position for `after`. Without `until`, the period has no end: this process's clock may be behind the database's.
 */
export async function recoverDeliveries(
  tx: Tx,
  author: Author,
  {
    organizationId,
    since,
    until,
    status,
    after,
  }: {
    organizationId: string;
    since: Date;
    until?: Date | undefined;
    status?: 'failed_permanent' | 'dead_letter' | undefined;
    after?: DeliveryPlace | undefined;
  },
): Promise<{ calls: DeliveryCall[]; next: DeliveryPlace | null }> {
  const { calls, next } = await redeliverMany(tx, {
    organizationId,
    since,
    until,
    statuses: status ? [status] : ['failed_permanent', 'dead_letter'],
    after,
    limit: RECOVERED_MAX,
  });
  await recordChange(tx, author, {
    organizationId,
    action: 'webhook_delivery.recover',
    resourceId: organizationId,
    details: { since: since.toISOString(), recovered: calls.length },
  });
  return { calls, next };
}

/** Adds the delivery of a test event; does nothing when the id exists. */
export async function addTestDelivery(
  tx: Tx,
  author: Author,
  {
    id,
    organizationId,
    event,
    url,
  }: { id: string; organizationId: string; event: WebhookEvent; url: string },
): Promise<DeliveryCall> {
  const { host } = new URL(url);
  const body = JSON.stringify({ ...samplePayload(event, organizationId), test: true });
  if (await insertTestDelivery(tx, { id, organizationId, event, url, body }))
    await recordChange(tx, author, {
      organizationId,
      action: 'webhook_delivery.test',
      resourceId: id,
      details: { event, host },
    });
  return { deliveryId: id, round: 1, made: 0, organizationId, event, host };
}

function samplePayload(event: WebhookEvent, organizationId: string): DeliveryPayload {
  const about = {
    event,
    executionId: randomUUID(),
    flowId: randomUUID(),
    organizationId,
    durationMs: 1234,
    occurredAt: new Date().toISOString(),
  };
  return event === 'flow.completed'
    ? { ...about, result: { message: 'This is a test.' } }
    : { ...about, errorMessage: 'This is a test.', failureReason: 'error' };
}
