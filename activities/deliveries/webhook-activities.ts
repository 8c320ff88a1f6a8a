// The activity types of webhook deliveries, by the names operators read in the Temporal Web UI.
import { abandonDelivery } from '../../db/webhooks/delivery-attempts.ts';
import type { DeliveryCall } from '../../flow/delivery.ts';
import { runAttempt } from '../attempts/run-attempt.ts';
import { type AttemptResult, attemptDelivery, type DeliveryDeps } from './attempt-delivery.ts';

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

/** Creates the activities over their dependencies, which the caller opens and closes. */
export function createWebhookActivities(deps: DeliveryDeps) {
  return {
    /** Sends the webhook once; fails when the destination does not take it. */
    attemptDelivery: (call: DeliveryCall): Promise<AttemptResult> =>
      runAttempt((attempt) => attemptDelivery(deps, call, call.made + attempt.begun, attempt)),

    /** Records that a delivery is given up because the end of its attempts was not recorded. */
    abandonDelivery: (call: DeliveryCall, reason: string): Promise<void> =>
      runAttempt(() => abandonDelivery(deps.db, call, reason)),
  };
}
