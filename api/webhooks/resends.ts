// POST …/webhooks/deliveries/{deliveryId}/redeliver, …/webhooks/recover and …/webhooks/test send webhooks on request.
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { repeatLostWrite } from '../../db/connection/repeat-lost-write.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { findDelivery } from '../../db/webhooks/deliveries.ts';
import { insertTestDelivery, redeliver, redeliverMany } from '../../db/webhooks/open-deliveries.ts';
import { awaitTurns } from '../../db/webhooks/webhook-turns.ts';
import { startNextDeliveries, tryStartDelivery } from '../../engine/start-delivery-workflow.ts';
import type { DeliveryCall, DeliveryPayload, WebhookEvent } from '../../flow/delivery.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { authenticate } from '../auth/authenticate.ts';
import { authorizeOrganization } from '../auth/authorize-organization.ts';
import { limitRate } from '../auth/limit-rate.ts';
import { writeAuthorized } from '../auth/write-authorized.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { readBody } from '../http/json-body.ts';
import { answer, BODY_ERRORS, body, ORGANIZATION_ERRORS, WEBHOOKS_PATH } from '../reference/operations.ts';
import { delivery, pendingDelivery, recovery, testOf } from '../reference/webhook-examples.ts';
import { requireWebhookUrl } from '../runs/require-webhook-url.ts';
import { DELIVERY_ERRORS, deliveryNotFound } from './delivery-not-found.ts';
import { deliveryRecord, recovered, recoverRequest, testRequest } from './schemas.ts';
import { toDeliveryRecord } from './to-delivery-record.ts';

const RECOVERED_MAX = 1_000;

export function webhookResendRoutes(deps: ApiDeps): Route[] {
  const first = [
    authenticate(deps),
    limitRate(deps),
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
      handlers: [...first, redeliverOne(deps)],
    },
    {
      method: 'post',
      path: `${WEBHOOKS_PATH}/recover`,
      operation: {
        operationId: 'recoverWebhooks',
        summary: 'Send again all deliveries that failed in a period',
        description: `Sends the oldest first, at most ${RECOVERED_MAX} per request. The first attempts are made within seconds.`,
        tags: ['Webhooks'],
        requestBody: body(recoverRequest, { outage: recovery }),
        responses: {
          202: answer('The deliveries are being sent.', recovered, {
            some: { recovered: 12, hasMore: false },
          }),
          ...ORGANIZATION_ERRORS,
          ...BODY_ERRORS,
        },
      },
      handlers: [...first, readBody(deps, recoverRequest), recover(deps)],
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
      handlers: [...first, readBody(deps, testRequest), sendTest(deps)],
    },
  ];
}

function redeliverOne(deps: ApiDeps): ApiMiddleware {
  return async function redeliverOne(ctx) {
    const { deliveryId = '' } = ctx.params;
    const { organizationId } = ctx.state.membership;
    if (!UUID_PATTERN.test(deliveryId)) throw deliveryNotFound();
    const call = await writeAuthorized(deps.db, ctx.state, async (tx, author) => {
      const again = await redeliver(tx, organizationId, deliveryId);
      if (!again) throw deliveryNotFound();
      await recordChange(tx, author, {
        organizationId,
        action: 'webhook_delivery.redeliver',
        resourceId: again.deliveryId,
      });
      return again;
    });
    ctx.status = 202;
    ctx.body = await startDelivery(deps, call);
  };
}

function recover(deps: ApiDeps): ApiMiddleware {
  return async function recover(ctx) {
    const { since, until, status } = ctx.state.body as z.infer<typeof recoverRequest>;
    const { organizationId } = ctx.state.membership;
    const recovered = await writeAuthorized(deps.db, ctx.state, async (tx, author) => {
      const calls = await redeliverMany(tx, {
        organizationId,
        since,
        until: until ?? new Date(),
        statuses: status ? [status] : ['failed_permanent', 'dead_letter'],
        limit: RECOVERED_MAX,
      });
      await awaitTurns(tx, calls);
      const details = { since: since.toISOString(), recovered: calls.length };
      const action = 'webhook_delivery.recover';
      await recordChange(tx, author, { organizationId, action, resourceId: organizationId, details });
      return calls;
    });
    await startNextDeliveries(deps, recovered);
    const count = recovered.length;
    ctx.status = 202;
    ctx.body = { recovered: count, hasMore: count === RECOVERED_MAX };
  };
}

function sendTest(deps: ApiDeps): ApiMiddleware {
  return async function sendTest(ctx) {
    const request = ctx.state.body as z.infer<typeof testRequest>;
    const { event } = request;
    const url = await requireWebhookUrl(deps, 'url', request.url);
    const organizationId = ctx.state.membership.organizationId;
    const id = randomUUID();
    const text = JSON.stringify({ ...samplePayload(event, organizationId), test: true });
    const { host } = new URL(url);
    const change = {
      organizationId,
      action: 'webhook_delivery.test',
      resourceId: id,
      details: { event, host },
    };
    const write = () =>
      writeAuthorized(deps.db, ctx.state, async (tx, author) => {
        if (await insertTestDelivery(tx, { id, organizationId, event, url, body: text }))
          await recordChange(tx, author, change);
      });
    await repeatLostWrite(write);
    const call = { deliveryId: id, round: 1, made: 0, organizationId, event, host };
    ctx.status = 202;
    ctx.body = await startDelivery(deps, call);
  };
}

function samplePayload(event: WebhookEvent, organizationId: string): DeliveryPayload {
  const about = {
    event,
    executionId: randomUUID(),
    flowId: randomUUID(),
    organizationId,
    durationMs: 1234,
    occurredAt: new Date().toISOString(),
  };
  return event === 'flow.completed'
    ? { ...about, result: { message: 'This is a test.' } }
    : { ...about, errorMessage: 'This is a test.', failureReason: 'error' };
}

/** Starts a stored delivery, and answers its record. */
async function startDelivery(deps: ApiDeps, call: DeliveryCall) {
  await tryStartDelivery(deps, call);
  const row = await findDelivery(deps.db, call.organizationId, call.deliveryId);
  return row && toDeliveryRecord(row);
}
