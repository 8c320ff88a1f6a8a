import type { Db } from '../../db/connect.ts';
import type { ProjectAccess } from '../../db/tenants/projects.ts';
import {
  type DeliveryRow,
  findDelivery,
  findRequestBody,
  listAttempts,
} from '../../db/webhooks/deliveries.ts';
import { ServiceError } from '../../flow/errors.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';

/**
 * Gets a delivery of the organization with its last attempts; with `projectId`, only one of that project. An operator
 * has no `access`. Throws NOT_FOUND.
 */
export async function getDeliveryDetail(
  db: Db,
  organizationId: string,
  deliveryId: string,
  { access, projectId }: { access?: ProjectAccess; projectId?: string | undefined } = {},
) {
  const delivery = UUID_PATTERN.test(deliveryId)
    ? await findDelivery(db, organizationId, deliveryId, projectId)
    : undefined;
  if (!delivery) throw deliveryNotFound();
  const attempts = await listAttempts(db, delivery.id);
  const requestBody = await findRequestBody(db, delivery.id, access);
  return {
    ...toDeliveryRecord(delivery),
    executionId: delivery.execution_id,
    nextAttemptAt: delivery.next_attempt_at?.toISOString() ?? null,
    requestBody: requestBody ?? null,
    attempts: attempts.map((row) => ({
      round: row.round,
      attempt: row.attempt,
      startedAt: row.started_at.toISOString(),
      durationMs: row.duration_ms,
      requestHeaders: requestBody === undefined ? null : row.request_headers,
      responseStatus: row.response_status,
      responseBody: row.response_body,
      errorMessage: row.error_message,
    })),
  };
}

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

/** Makes the 404 for an unknown delivery, a delivery of another organization, or a malformed id. */
export function deliveryNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'The organization has no such delivery.');
}
