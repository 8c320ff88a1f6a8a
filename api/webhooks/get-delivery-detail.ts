import type { Db } from '../../db/connect.ts';
import type { ProjectAccess } from '../../db/tenants/project-access.ts';
import { findDelivery, findRequestBody, listAttempts } from '../../db/webhooks/deliveries.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { deliveryNotFound } from './delivery-not-found.ts';
import { toDeliveryRecord } from './to-delivery-record.ts';

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
