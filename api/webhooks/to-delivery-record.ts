import type { DeliveryRow } from '../../db/webhooks/deliveries.ts';

/** Describes a delivery for responses. */
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
