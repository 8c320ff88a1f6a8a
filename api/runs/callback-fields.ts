// callbackUrl and callbackEvents (spec: POST …/jobs, Webhook events).
import { z } from 'zod';
import { WEBHOOK_EVENTS } from '../../flow/delivery.ts';

/** A list is looked through only up to here. */
const EVENTS_MAX = 10;

export const webhookEvent = z.enum(WEBHOOK_EVENTS, {
  error: `is one of ${WEBHOOK_EVENTS.join(', ')}`,
});

/** What asks for a webhook at the end of a run. */
export const callbackFields = {
  callbackUrl: z
    .string()
    .optional()
    .meta({ description: 'https URL at a public address that is told when the run has ended.' }),
  callbackEvents: z
    .array(webhookEvent)
    .min(1, 'names at least one event')
    .max(EVENTS_MAX)
    .optional()
    .meta({ description: 'The events to be told about; both when absent.' }),
};
