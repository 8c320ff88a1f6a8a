// Webhook deliveries (spec: Events, "Webhook delivery status"): the contract between API, workflows and activities.
import type { Json } from './definition.ts';
import type { FailureReason } from './run.ts';

/** Name of the workflow type; renaming it breaks every delivery under way. */
export const DELIVER_WEBHOOK = 'deliverWebhook';

/** Name of the signal that has a delivery look whether it is its turn now; renaming it leaves deliveries waiting. */
export const TURN_GIVEN = 'turnGiven';

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

/** A delivery in one of these goes on by itself. */
export const OPEN_STATUSES = ['pending', 'in_flight', 'failed_retry'] as const;
export const DELIVERY_STATUSES = [...OPEN_STATUSES, 'succeeded', 'failed_permanent', 'dead_letter'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const MINUTE_MS = 60_000;
/** From the end of an attempt that failed to the next one. */
export const RETRY_DELAYS_MS = [1, 5, 30, 120, 720].map((minutes) => minutes * MINUTE_MS);
export const ATTEMPTS_MAX = RETRY_DELAYS_MS.length + 1;

/**
 * Argument of `deliverWebhook`. `round` counts how often the delivery was sent anew, from 1; `made` attempts of it were
 * made before this workflow; `host` is the destination's, with its port where it names one.
 */
export type DeliveryCall = {
  deliveryId: string;
  round: number;
  made: number;
  organizationId: string;
  event: WebhookEvent;
  host: string;
};

/** The delivery's id, so that each round has one workflow, whoever starts it. */
export function deliveryWorkflowId({
  deliveryId,
  round,
}: Pick<DeliveryCall, 'deliveryId' | 'round'>): string {
  return round === 1 ? deliveryId : `${deliveryId}-${round}`;
}

/** The task queue of deliveries beside that of runs: neither waits for the other. */
export function webhookTaskQueue(taskQueue: string): string {
  return `${taskQueue}-webhooks`;
}

/** Of what waits for workers each organization's is taken in turn, however much another has waiting. */
export function fairShareOfDelivery({ organizationId }: Pick<DeliveryCall, 'organizationId'>): {
  fairnessKey: string;
} {
  return { fairnessKey: organizationId };
}

/** What operators read beside a delivery in the Temporal Web UI; paths of URLs may hold secrets. */
export function describeDelivery({ event, host }: Pick<DeliveryCall, 'event' | 'host'>): string {
  return `${event} to ${host}`;
}
