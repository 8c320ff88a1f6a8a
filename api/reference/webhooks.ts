// The two webhooks in the API reference: requests that the service sends to a run's callbackUrl (docs/webhooks.md).
import { z } from 'zod';
import type { ZodOpenApiPathItemObject } from 'zod-openapi';
import type { DeliveryPayload, WebhookEvent } from '../../flow/delivery.ts';
import { body } from './operations.ts';
import { completed, failed } from './run-examples.ts';

const about = {
  executionId: z.uuid(),
  flowId: z.uuid(),
  organizationId: z.uuid(),
  durationMs: z.int().min(0).meta({ description: 'How long the run took.' }),
  occurredAt: z.iso.datetime().meta({ description: 'When it ended.' }),
  test: z.literal(true).optional().meta({ description: 'Sent by …/webhooks/test, without a run.' }),
};
const flowCompleted = z
  .object({
    event: z.literal('flow.completed'),
    ...about,
    result: z.unknown().meta({ description: 'The output of the last step, any JSON.' }),
    truncated: z.literal(true).optional().meta({
      description: 'The result does not fit and is null here: GET …/jobs/{executionId} has it.',
    }),
    originalResultBytes: z.int().optional().meta({ description: 'The size of a result that does not fit.' }),
  })
  .meta({ id: 'FlowCompleted' });
const flowFailed = z
  .object({
    event: z.literal('flow.failed'),
    ...about,
    errorMessage: z.string().meta({ description: 'Begins with the code of the failure.' }),
    failureReason: z.enum(['error', 'credits_exhausted', 'byok_rejected']),
  })
  .meta({ id: 'FlowFailed' });

export const webhookHeaders = z.object({
  'X-Weir-Delivery': z.uuid().meta({ description: 'The id of the delivery, the same on every attempt.' }),
  'X-Weir-Timestamp': z.string().meta({ description: 'Seconds since 1970.' }),
  'X-Weir-Signature': z.string().meta({
    description:
      '`t=<timestamp>,v1=<HMAC-SHA256 of "<timestamp>.<body>">`; within 24 hours of a rotation `v2` too.',
  }),
});

const shared = {
  executionId: completed.executionId,
  flowId: completed.flowId,
  organizationId: 'b1f2a9c4-51c0-4b1a-9f6e-6a2f3f0e9d11',
  durationMs: 172,
  occurredAt: '2026-01-31T12:00:00.172Z',
};
const completedPayload: DeliveryPayload = {
  event: 'flow.completed',
  ...shared,
  result: completed.result,
};
const failedPayload: DeliveryPayload = {
  event: 'flow.failed',
  ...shared,
  errorMessage: `${failed.code}: ${failed.errorMessage}`,
  failureReason: 'credits_exhausted',
};

const RECEIVED = {
  id: 'WebhookReceived',
  description: 'Received. After 408, 429, 5xx or no answer, Weir tries again; any other status is final.',
};

export const webhooks: { [event in WebhookEvent]: ZodOpenApiPathItemObject } = {
  'flow.completed': webhook('flowCompleted', 'A run has a result', flowCompleted, completedPayload),
  'flow.failed': webhook('flowFailed', 'A run failed or was cancelled', flowFailed, failedPayload),
};

function webhook(
  operationId: string,
  summary: string,
  payload: z.ZodType,
  example: DeliveryPayload,
): ZodOpenApiPathItemObject {
  return {
    post: {
      operationId,
      summary,
      // A tag of their own: generated clients have a file for each tag, and another one for webhooks.
      tags: ['Webhook events'],
      security: [],
      requestParams: { header: webhookHeaders },
      requestBody: body(payload, { payload: example }),
      responses: { '2XX': RECEIVED },
    },
  };
}
