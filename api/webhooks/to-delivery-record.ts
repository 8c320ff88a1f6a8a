import type { DeliveryRow } from '../../db/webhooks/deliveries.ts';
import { ServiceError } from '../../flow/errors.ts';

/** Makes the delivery record that callers read (spec: "Webhook delivery record"). */
export function toDeliveryRecord(row: DeliveryRow) {
  return {
    id: row.id,
    eventType: row.event_type,
    targetUrl: row.target_url,
    status: row.status,
    attempt: row.attempt,
    responseStatus: row.response_status,
    lastAttemptedAt: row.last_attempted_at?.toISOString() ?? null,
    errorMessage: row.error_message,
    createdAt: row.created_at.toISOString(),
  };
}

/** Answers the same for an unknown delivery, one of another organization and a malformed id. */
export function deliveryNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'The organization has no such delivery.');
}
