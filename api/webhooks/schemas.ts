// Request and response schemas of webhook administration.
import { z } from 'zod';
import type { DeliveryPlace } from '../../db/webhooks/deliveries.ts';
import { DELIVERY_STATUSES } from '../../flow/delivery.ts';
import { moment, momentText } from '../http/moment.ts';
import { webhookEvent } from '../runs/run-shapes/requests.ts';

/** The fraction of a cursor's seconds: first the milliseconds, then the sequence number within that millisecond. */
const MS_DIGITS = 3;
const SEQ_DIGITS = 15;

const organizationId = z.uuid();
const time = z.iso.datetime();
const version = z.int().min(1).meta({ description: 'Increases by one with every rotation.' });
const graceUntil = time
  .nullable()
  .meta({ description: 'Until then, deliveries also carry a signature by the previous secret.' });

export const secretRecord = z
  .object({
    organizationId,
    secretPreview: z.string().meta({ description: 'The first 10 characters and a mask.' }),
    version,
    createdAt: time.meta({ description: 'When the current secret was issued.' }),
    rotatedAt: time.nullable(),
    graceUntil,
  })
  .meta({ id: 'WebhookSecret' });

export const rotatedSecret = z
  .object({
    organizationId,
    newSecret: z.string().meta({ description: 'The secret in full, shown only this once.' }),
    previousSecretPreview: z.string().nullable().meta({ description: 'null when this is the first secret.' }),
    version,
    graceUntil,
    rotatedAt: time,
  })
  .meta({ id: 'RotatedWebhookSecret' });

const status = z.enum(DELIVERY_STATUSES);

export const deliveryRecord = z
  .object({
    id: z.uuid().meta({ description: 'The header X-Weir-Delivery of every attempt.' }),
    eventType: webhookEvent,
    targetUrl: z.string(),
    status,
    attempt: z
      .int()
      .min(0)
      .max(6)
      .meta({ description: 'The number of attempts, including an attempt under way.' }),
    responseStatus: z.int().nullable().meta({
      description:
        'The status of the last attempt; null during an attempt, and if the receiver did not answer.',
    }),
    lastAttemptedAt: time.nullable().meta({ description: 'null before the first attempt.' }),
    errorMessage: z.string().nullable(),
    createdAt: time,
  })
  .meta({ id: 'WebhookDelivery' });

const attemptRecord = z
  .object({
    round: z.int().min(1).meta({ description: 'Increases each time the delivery is sent again.' }),
    attempt: z.int().min(1).max(6),
    startedAt: time,
    durationMs: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: 'null while the attempt is under way, and when its worker was lost.' }),
    requestHeaders: z.record(z.string(), z.string()).nullable().meta({
      description:
        'The headers of the request with its signatures; Host and Content-Length were sent besides. null while the attempt is under way, when its worker was lost, and where `requestBody` is null for an API key.',
    }),
    responseStatus: z.int().nullable(),
    responseBody: z.string().nullable().meta({ description: 'The first 1,024 characters.' }),
    errorMessage: z.string().nullable(),
  })
  .meta({ id: 'WebhookAttempt' });

export const deliveryDetail = deliveryRecord
  .extend({
    executionId: z
      .uuid()
      .nullable()
      .meta({ description: 'The run that the delivery reports; null for a test.' }),
    nextAttemptAt: time.nullable().meta({
      description:
        'When the next attempt is due. It is in the past while the delivery is rescheduled, and after its worker was lost before the attempt had begun: the attempt follows after about the delay of the schedule.',
    }),
    requestBody: z.string().nullable().meta({
      description:
        'The body of every attempt, as it is sent. null before the first attempt, and for an API key when the run is of another project.',
    }),
    attempts: z
      .array(attemptRecord)
      .meta({ description: 'Those of the last 20 rounds, in the order they were made.' }),
  })
  .meta({ id: 'WebhookDeliveryDetail' });

export const deliveryList = z
  .object({
    deliveries: z.array(deliveryRecord),
    hasMore: z.boolean(),
    nextCursor: z
      .string()
      .nullable()
      .meta({ description: 'Send it as `before` to get the next page; null on the last page.' }),
  })
  .meta({ id: 'WebhookDeliveryList' });

export const testRequest = z
  .strictObject({
    url: z.string().meta({ description: 'An https URL at a public address.' }),
    event: webhookEvent.default('flow.completed'),
  })
  .meta({ id: 'WebhookTestRequest' });

export const recoverRequest = z
  .strictObject({
    since: moment.meta({ description: 'Deliveries created at this time or later.' }),
    until: moment.optional().meta({ description: 'Deliveries created before this time; now when absent.' }),
    status: z
      .enum(['failed_permanent', 'dead_letter'])
      .optional()
      .meta({ description: 'Deliveries with this status; with both when absent.' }),
    cursor: momentText
      .transform(parsePlace)
      .optional()
      .meta({ description: '`nextCursor` of the request before: only deliveries after its last one.' }),
  })
  .meta({ id: 'WebhookRecoverRequest' });

export const recovered = z
  .object({
    recovered: z.int().min(0),
    hasMore: z.boolean().meta({ description: 'There may be more deliveries than one request takes.' }),
    nextCursor: z.string().nullable().meta({
      description: 'Send it as `cursor` to go on, so that none is sent twice; null when there are no more.',
    }),
  })
  .meta({ id: 'WebhooksRecovered' });

/**
 * Makes the cursor of a delivery: a time, whose digits after the milliseconds order deliveries of the same
 * millisecond.
 */
export function toCursor({ createdAt, seq }: DeliveryPlace): string {
  return createdAt.toISOString().replace('Z', `${String(seq).padStart(SEQ_DIGITS, '0')}Z`);
}

/** Parses a cursor or any other time. */
export function parsePlace(text: string): DeliveryPlace {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  const beyond = fraction.slice(MS_DIGITS, MS_DIGITS + SEQ_DIGITS).padEnd(SEQ_DIGITS, '0');
  const ms = fraction.slice(0, MS_DIGITS);
  return { createdAt: new Date(text.replace(/\.\d+/, ms && `.${ms}`)), seq: Number(beyond) };
}
