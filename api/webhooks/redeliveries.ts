// POST …/webhooks/deliveries/{deliveryId}/redeliver, …/webhooks/recover and …/webhooks/test: webhooks on request.
import type { z } from 'zod';
import { repeatLostWrite } from '../../db/connection/database-errors.ts';
import { createTimedId } from '../../db/timed-id.ts';
import { findDelivery } from '../../db/webhooks/deliveries.ts';
import type { DeliveryCall } from '../../flow/delivery.ts';
import { tryStartDeliveries, tryStartDelivery } from '../../temporal/start-delivery-workflow.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { authorizeOrganization, writeAuthorized } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { takeIdempotencyKey } from '../http/idempotency-key.ts';
import { readBody } from '../http/json-body.ts';
import {
  answer,
  BODY_ERRORS,
  body,
  errorAnswer,
  examplesOf,
  ORGANIZATION_ERRORS,
  WEBHOOKS_PATH,
} from '../reference/operations.ts';
import { delivery, pendingDelivery, recovery, testOf } from '../reference/webhook-examples.ts';
import { requireWebhookUrl } from '../runs/calls/callback.ts';
import { limitLookUps } from '../runs/calls/limit-look-ups.ts';
import { deliveryNotFound, toDeliveryRecord } from './delivery-records.ts';
import {
  addTestDelivery,
  RECOVERED_MAX,
  recoverDeliveries,
  redeliverDelivery,
} from './recorded-redeliveries.ts';
import { deliveryRecord, recovered, recoverRequest, testRequest, toCursor } from './schemas.ts';

/** The error responses of endpoints about one delivery. */
export const DELIVERY_ERRORS = {
  404: {
    id: 'DeliveryNotFound',
    ...errorAnswer(
      'The delivery is unknown, or belongs to another organization.',
      examplesOf(deliveryNotFound()),
    ),
  },
};

export function webhookRedeliveryRoutes(deps: ApiDeps): Route[] {
  const first = [
    ...identifyCaller(deps, 'webhooks'),
    authorizeOrganization(deps, { role: 'member', strangers: 'FORBIDDEN' }),
  ];
  return [
    {
      method: 'post',
      path: `${WEBHOOKS_PATH}/deliveries/:deliveryId/redeliver`,
      operation: {
        operationId: 'redeliverWebhook',
        summary: 'Send a delivery again',
        description:
          'Sends the delivery again at once, whatever its status: with the same id and body, a new signature and up to 6 attempts. Attempts still to come of the round before are dropped. The request body is ignored.',
        tags: ['Webhooks'],
        responses: {
          202: answer('The delivery, with a new round of attempts.', deliveryRecord, {
            pending: pendingDelivery,
          }),
          ...ORGANIZATION_ERRORS,
          ...DELIVERY_ERRORS,
        },
      },
      handlers: [...first, takeIdempotencyKey(deps), redeliverOne(deps)],
    },
    {
      method: 'post',
      path: `${WEBHOOKS_PATH}/recover`,
      operation: {
        operationId: 'recoverWebhooks',
        summary: 'Send again all failed deliveries that were created in a period',
        description: `Sends the oldest first, at most ${RECOVERED_MAX} per request: send \`nextCursor\` as \`cursor\` for the next ones. The first attempts are made within seconds.`,
        tags: ['Webhooks'],
        requestBody: body(recoverRequest, { outage: recovery }),
        responses: {
          202: answer('The deliveries are being sent.', recovered, {
            some: { recovered: 12, hasMore: false, nextCursor: null },
          }),
          ...ORGANIZATION_ERRORS,
          ...BODY_ERRORS,
        },
      },
      handlers: [...first, readBody(deps, recoverRequest), takeIdempotencyKey(deps), recover(deps)],
    },
    {
      method: 'post',
      path: `${WEBHOOKS_PATH}/test`,
      operation: {
        operationId: 'testWebhook',
        summary: 'Send a test event',
        description:
          'The event is signed and retried like any other. Its payload has `"test": true`, and its ids belong to no run.',
        tags: ['Webhooks'],
        requestBody: body(testRequest, { failed: testOf }),
        responses: {
          202: answer('The delivery.', deliveryRecord, { pending: delivery }),
          ...ORGANIZATION_ERRORS,
          ...BODY_ERRORS,
        },
      },
      handlers: [...first, readBody(deps, testRequest), takeIdempotencyKey(deps), sendTest(deps)],
    },
  ];
}

function redeliverOne(deps: ApiDeps): ApiMiddleware {
  return async function redeliverOne(ctx) {
    const { deliveryId = '' } = ctx.params;
    const { organizationId } = ctx.state.membership;
    const call = await writeAuthorized(deps.db, ctx.state, (tx, author) =>
      redeliverDelivery(tx, author, organizationId, deliveryId),
    );
    ctx.status = 202;
    ctx.body = await startDelivery(deps, call);
  };
}

function recover(deps: ApiDeps): ApiMiddleware {
  return async function recover(ctx) {
    const { cursor: after, ...period } = ctx.state.body as z.infer<typeof recoverRequest>;
    const { organizationId } = ctx.state.membership;
    const { calls, next } = await writeAuthorized(deps.db, ctx.state, (tx, author) =>
      recoverDeliveries(tx, author, { organizationId, ...period, after }),
    );
    await tryStartDeliveries(deps, calls);
    ctx.status = 202;
    ctx.body = { recovered: calls.length, hasMore: next !== null, nextCursor: next && toCursor(next) };
  };
}

function sendTest(deps: ApiDeps): ApiMiddleware {
  return async function sendTest(ctx) {
    const request = ctx.state.body as z.infer<typeof testRequest>;
    const { organizationId } = ctx.state.membership;
    const forHosts = limitLookUps(deps, organizationId);
    const url = await requireWebhookUrl(forHosts, 'url', request.url);
    const test = { id: createTimedId(), organizationId, event: request.event, url };
    const write = () =>
      writeAuthorized(deps.db, ctx.state, (tx, author) => addTestDelivery(tx, author, test));
    const call = await repeatLostWrite(write);
    ctx.status = 202;
    ctx.body = await startDelivery(deps, call);
  };
}

/** Starts a stored delivery and returns its record. */
async function startDelivery(deps: ApiDeps, call: DeliveryCall) {
  await tryStartDelivery(deps, call);
  const row = await findDelivery(deps.db, call.organizationId, call.deliveryId);
  return row && toDeliveryRecord(row);
}
