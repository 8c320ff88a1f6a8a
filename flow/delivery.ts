// Webhook deliveries (docs/webhooks.md): the contract between API, workflows and activities.
import type { Json } from './definition.ts';
import type { FailureReason } from './run.ts';

/** Name of the workflow type; renaming it breaks every delivery under way. */
export const DELIVER_WEBHOOK = 'deliverWebhook';

export const WEBHOOK_EVENTS = ['flow.completed', 'flow.failed'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** The body of a webhook. */
export type DeliveryPayload = {
  event: WebhookEvent;
  executionId: string;
  flowId: string;
  organizationId: string;
  /** How long the run took. */
  durationMs: number;
  /** When it ended, ISO 8601. */
  occurredAt: string;
} & (
  | { result: Json; truncated?: true; originalResultBytes?: number }
  | { errorMessage: string; failureReason: FailureReason }
);

/** Statuses of deliveries that continue without a request. */
export const OPEN_STATUSES = ['pending', 'in_flight', 'failed_retry'] as const;
export const DELIVERY_STATUSES = [...OPEN_STATUSES, 'succeeded', 'failed_permanent', 'dead_letter'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const MINUTE_MS = 60_000;
/** Delays from the end of a failed attempt to the start of the next one. */
export const RETRY_DELAYS_MS = [1, 5, 30, 120, 720].map((minutes) => minutes * MINUTE_MS);
export const ATTEMPTS_MAX = RETRY_DELAYS_MS.length + 1;
/** Each of these delays in multiples of the one before, about, for what Temporal repeats: 1, 5, 27, 139 and 720 minutes. */
export const RETRY_BACKOFF = 5.18;
export const RETRY_DELAY_MAX_MS = 720 * MINUTE_MS;

/**
 * Argument of `deliverWebhook`. `round` numbers the rounds of attempts, from 1 (a redelivery begins a new one); `made` is the
 * number of attempts made in this round before this workflow; `host` is the destination's host, with its port if named.
 */
export type DeliveryCall = {
  deliveryId: string;
  round: number;
  made: number;
  organizationId: string;
  event: WebhookEvent;
  host: string;
};

/** Returns the workflow id of a round of a delivery. Each round has one workflow. */
export function deliveryWorkflowId({
  deliveryId,
  round,
}: Pick<DeliveryCall, 'deliveryId' | 'round'>): string {
  return round === 1 ? deliveryId : `${deliveryId}-${round}`;
}

/** Returns the task queue of deliveries, which is separate from that of runs so that neither waits for the other. */
export function webhookTaskQueue(taskQueue: string): string {
  return `${taskQueue}-webhooks`;
}

/** Returns the priority with which organizations share the workers, however much any of them has queued. */
export function fairShareOfDelivery({ organizationId }: Pick<DeliveryCall, 'organizationId'>): {
  fairnessKey: string;
} {
  return { fairnessKey: organizationId };
}

/** Returns the summary of a delivery in the Temporal Web UI. It omits the URL's path, which may contain secrets. */
export function describeDelivery({ event, host }: Pick<DeliveryCall, 'event' | 'host'>): string {
  return `${event} to ${host}`;
}
