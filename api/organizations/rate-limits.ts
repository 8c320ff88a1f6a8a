// GET …/rate-limits: an organization's limits for requests and for runs in flight.
import { z } from 'zod';
import { findRunsUnderWayMax } from '../../db/tenants/limits.ts';
import { identifyUser } from '../auth/authenticate.ts';
import { authorizeOrganization } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { ORGANIZATIONS_PATH, RESOURCE_ERRORS, USERS_ONLY } from '../reference/management-operations.ts';
import { answer } from '../reference/operations.ts';

const perMinute = z.int().min(1).nullable();
const rateLimits = z
  .object({
    perKey: perMinute.meta({
      description: 'Requests per minute of each API key and each user; null: no limit.',
    }),
    perOrganization: perMinute.meta({
      description: 'Requests per minute of all API keys of the organization together; null: no limit.',
    }),
    runsUnderWay: z.int().min(1).nullable().meta({
      description: 'How many runs of the organization may be under way at a time; null: no limit.',
    }),
  })
  .meta({ id: 'RateLimits' });

export function rateLimitRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: `${ORGANIZATIONS_PATH}/:org_id/rate-limits`,
      operation: {
        tags: ['Organizations'],
        security: USERS_ONLY,
        operationId: 'getRateLimits',
        summary: 'Get how many requests callers of an organization may send',
        description: 'What is left of them is in the `RateLimit-*` headers of every answer.',
        responses: {
          200: answer('The limits in force.', rateLimits, {
            limits: { perKey: 60_000, perOrganization: 300_000, runsUnderWay: null },
          }),
          ...RESOURCE_ERRORS,
        },
      },
      handlers: [...identifyUser(deps), authorizeOrganization(deps, { role: 'member' }), getRateLimits(deps)],
    },
  ];
}

function getRateLimits({ config, db }: ApiDeps): ApiMiddleware {
  return async function getRateLimits(ctx) {
    const own = await findRunsUnderWayMax(db, ctx.state.membership.organizationId);
    ctx.body = {
      perKey: config.rateLimitPerKey || null,
      perOrganization: config.rateLimitPerOrganization || null,
      runsUnderWay: (own ?? config.runsUnderWayMax) || null,
    } satisfies z.infer<typeof rateLimits>;
  };
}
