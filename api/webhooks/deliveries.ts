// Webhook administration (docs/webhooks.md): endpoints with which members of an organization look at deliveries, send
// them again, and rotate the signing secret. The worker makes the attempts. This file: GET …/webhooks/deliveries and
// …/webhooks/deliveries/{deliveryId}.
import { z } from 'zod';
import { listDeliveries } from '../../db/webhooks/deliveries.ts';
import { DELIVERY_STATUSES } from '../../flow/delivery.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { authorizeOrganization } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { answerWithETag, ifNoneMatch } from '../http/etag.ts';
import { momentText } from '../http/moment.ts';
import { pageLimit, toPage } from '../http/page.ts';
import { accessOf, type Principal } from '../http/principal.ts';
import { readQuery } from '../http/query.ts';
import {
  answer,
  ORGANIZATION_ERRORS,
  pageWithETag,
  VALIDATION_ERRORS,
  WEBHOOKS_PATH,
} from '../reference/operations.ts';
import { deliveryPage, detailedDelivery } from '../reference/webhook-examples.ts';
import { webhookEvent } from '../runs/run-shapes/requests.ts';
import { getDeliveryDetail, toDeliveryRecord } from './delivery-records.ts';
import { DELIVERY_ERRORS } from './redeliveries.ts';
import { deliveryDetail, deliveryList, parsePlace, toCursor } from './schemas.ts';

const deliveriesQuery = z.strictObject({
  limit: pageLimit,
  before: momentText.transform(parsePlace).optional().meta({
    description:
      'Only deliveries created before this time, in UTC unless it has an offset: send `nextCursor` of the previous page.',
  }),
  status: z.enum(DELIVERY_STATUSES).optional().meta({ description: 'Only deliveries with this status.' }),
  event: webhookEvent.optional().meta({ description: 'Only deliveries of this event.' }),
  execution_id: z
    .uuid('must be the id of a run')
    .optional()
    .meta({ description: 'Only the delivery of this run.' }),
});

export function webhookDeliveryRoutes(deps: ApiDeps): Route[] {
  const first = [
    ...identifyCaller(deps, 'read', 'webhooks'),
    authorizeOrganization(deps, { role: 'member', strangers: 'FORBIDDEN' }),
  ];
  return [
    {
      method: 'get',
      path: `${WEBHOOKS_PATH}/deliveries`,
      operation: {
        operationId: 'listWebhookDeliveries',
        summary: 'List deliveries, newest first',
        tags: ['Webhooks'],
        requestParams: { query: deliveriesQuery, header: ifNoneMatch },
        responses: {
          ...pageWithETag('A page of deliveries.', deliveryList, { page: deliveryPage }),
          ...ORGANIZATION_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...first, readQuery(deliveriesQuery), listPage(deps)],
    },
    {
      method: 'get',
      path: `${WEBHOOKS_PATH}/deliveries/:deliveryId`,
      operation: {
        operationId: 'getWebhookDelivery',
        summary: 'Get a delivery with its attempts',
        tags: ['Webhooks'],
        responses: {
          200: answer('The delivery.', deliveryDetail, { delivery: detailedDelivery }),
          ...ORGANIZATION_ERRORS,
          ...DELIVERY_ERRORS,
        },
      },
      handlers: [...first, getOne(deps)],
    },
  ];
}

function listPage({ db }: ApiDeps): ApiMiddleware {
  return async function listPage(ctx) {
    const {
      limit,
      execution_id: executionId,
      ...filter
    } = ctx.state.query as z.infer<typeof deliveriesQuery>;
    const organizationId = ctx.state.membership.organizationId;
    const projectId = onlyProjectOf(ctx.state.principal);
    const rows = await listDeliveries(db, {
      ...filter,
      organizationId,
      executionId,
      projectId,
      limit: limit + 1,
    });
    const { page, end } = toPage(rows, limit, ({ created_at, seq }) =>
      toCursor({ createdAt: created_at, seq }),
    );
    answerWithETag(ctx, { deliveries: page.map(toDeliveryRecord), ...end });
  };
}

function getOne({ db }: ApiDeps): ApiMiddleware {
  return async function getOne(ctx) {
    const { deliveryId = '' } = ctx.params;
    const { principal, membership } = ctx.state;
    ctx.body = await getDeliveryDetail(db, membership.organizationId, deliveryId, {
      access: accessOf(principal),
      projectId: onlyProjectOf(principal),
    });
  };
}

/**
 * Returns the project of a read-only key. Users and keys with the scope `webhooks` see all deliveries of the
 * organization.
 */
function onlyProjectOf(principal: Principal): string | undefined {
  if (principal.kind === 'user' || principal.key.scopes.includes('webhooks')) return undefined;
  return principal.projectId;
}
