import type { getDeliveryDetail } from '../../api/webhooks/get-delivery-detail.ts';
import type { toDeliveryRecord } from '../../api/webhooks/to-delivery-record.ts';
import { formatTable, formatTime, oneLine } from './format-table.ts';

type Delivery = ReturnType<typeof toDeliveryRecord> & { executionId?: string | null };
type DetailedDelivery = Awaited<ReturnType<typeof getDeliveryDetail>>;

/** Formats one row per delivery, with its run where that is known. */
export function deliveryTable(deliveries: Delivery[]): string {
  const withRun = deliveries.some(({ executionId }) => executionId !== undefined);
  return formatTable(
    ['delivery', 'event', ...(withRun ? ['run'] : []), 'status', 'attempt', 'answer', 'created', 'url'],
    deliveries.map((delivery) => [
      delivery.id,
      delivery.eventType,
      ...(withRun ? [delivery.executionId ?? 'test'] : []),
      delivery.status,
      delivery.attempt,
      delivery.responseStatus,
      formatTime(delivery.createdAt),
      delivery.targetUrl,
    ]),
    'No deliveries were found.',
  );
}

/** An overdue attempt waits in a queue, or its worker was lost; when it is made is not known here. */
function describeNext(at: string): string {
  return `, next attempt ${Date.parse(at) > Date.now() ? '' : 'due since '}${formatTime(at)}`;
}

/** Formats a delivery with its attempts and its body. */
export function formatDelivery(delivery: DetailedDelivery): string {
  const { nextAttemptAt, requestBody } = delivery;
  return [
    `${delivery.id}  ${delivery.eventType} to ${oneLine(delivery.targetUrl)}`,
    `${delivery.status}, created ${formatTime(delivery.createdAt)}${nextAttemptAt ? describeNext(nextAttemptAt) : ''}`,
    delivery.executionId ? `Run: ${delivery.executionId}` : 'A test, of no run.',
    ...(delivery.errorMessage === null ? [] : [`Error: ${oneLine(delivery.errorMessage)}`]),
    '',
    formatTable(
      ['round', 'attempt', 'started', 'ms', 'answer', 'error or body'],
      delivery.attempts.map((attempt) => [
        attempt.round,
        attempt.attempt,
        formatTime(attempt.startedAt),
        attempt.durationMs,
        attempt.responseStatus,
        attempt.errorMessage ?? attempt.responseBody,
      ]),
      'No attempt was made yet.',
    ),
    ...(requestBody === null ? [] : ['', `Body: ${oneLine(requestBody)}`]),
  ].join('\n');
}
