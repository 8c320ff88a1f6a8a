import { z } from 'zod';
import { WEBHOOK_EVENTS } from '../../../flow/delivery.ts';

/** Limits the work of checking the list. */
const EVENTS_MAX = 10;

export const webhookEvent = z.enum(WEBHOOK_EVENTS, {
  error: `must be one of ${WEBHOOK_EVENTS.join(', ')}`,
});

/** callbackUrl and callbackEvents, which request a webhook at the end of a run (docs/webhooks.md). */
export const callbackFields = {
  callbackUrl: z.string().optional().meta({
    description: 'An https URL at a public address. The webhook goes there when the run has ended.',
  }),
  callbackEvents: z
    .array(webhookEvent)
    .max(EVENTS_MAX)
    // Not `minItems` in the API document: without `callbackUrl` an empty list is valid.
    .refine((events) => events.length > 0, 'must name at least one event')
    .optional()
    .meta({
      description:
        'The events to send, at least one; both when absent. Without `callbackUrl` it is refused unless it is empty.',
    }),
};
