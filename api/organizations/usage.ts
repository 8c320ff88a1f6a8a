// GET …/organizations/{org_id}/usage and GET …/projects/{project_id}/usage: sums of what was used.
import type { z } from 'zod';
import type { ZodOpenApiResponsesObject } from 'zod-openapi';
import { findUsage, type UsageFilter } from '../../db/usage/find-usage.ts';
import { authorizeOrganization } from '../auth/authorize-organization.ts';
import { identifyCaller, identifyUser } from '../auth/identify-caller.ts';
import { loadProject } from '../auth/load-project.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, ApiState, Route } from '../http/context.ts';
import { answerWithETag, ifNoneMatch } from '../http/etag.ts';
import { toPage } from '../http/page.ts';
import { readQuery } from '../http/query.ts';
import { usage } from '../reference/credit-examples.ts';
import {
  ORGANIZATIONS_PATH,
  PROJECT_ERRORS,
  PROJECTS_PATH,
  RESOURCE_ERRORS,
  USERS_ONLY,
} from '../reference/management-operations.ts';
import { pageWithETag, VALIDATION_ERRORS } from '../reference/operations.ts';
import { toUsage, toUsageEntry } from './to-usage.ts';
import { usageDays } from './usage-days.ts';
import { organizationUsageQuery, projectUsageQuery, type UsageQuery, usageReport } from './usage-schemas.ts';

export function usageRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: `${PROJECTS_PATH}/:project_id/usage`,
      operation: {
        ...operationOf(projectUsageQuery, PROJECT_ERRORS),
        operationId: 'getProjectUsage',
        summary: 'Get what a project has used',
      },
      handlers: [
        ...identifyCaller(deps, 'read', 'deploy'),
        loadProject(deps, 'member'),
        readQuery(projectUsageQuery),
        report(deps, ({ project }) => ({ organizationId: project.organization_id, projectId: project.id })),
      ],
    },
    {
      method: 'get',
      path: `${ORGANIZATIONS_PATH}/:org_id/usage`,
      operation: {
        ...operationOf(organizationUsageQuery, RESOURCE_ERRORS),
        security: USERS_ONLY,
        operationId: 'getOrganizationUsage',
        summary: 'Get what an organization has used',
      },
      handlers: [
        ...identifyUser(deps),
        authorizeOrganization(deps, { role: 'member' }),
        readQuery(organizationUsageQuery),
        report(deps, ({ membership: { organizationId }, query }) => ({
          organizationId,
          projectId: (query as UsageQuery).project_id,
        })),
      ],
    },
  ];
}

function operationOf(query: z.ZodObject, errors: ZodOpenApiResponsesObject) {
  return {
    description:
      'A run and its credits count within a minute of its end. Ask again with the ETag: 304 while nothing has changed.',
    tags: ['Credits'],
    requestParams: { query, header: ifNoneMatch },
    responses: {
      ...pageWithETag('A page of sums.', usageReport, { byFlow: usage }),
      ...errors,
      ...VALIDATION_ERRORS,
    },
  };
}

type Scope = Pick<UsageFilter, 'organizationId' | 'projectId'>;

function report({ db }: ApiDeps, scopeOf: (state: ApiState) => Scope): ApiMiddleware {
  return async function report(ctx) {
    const { by, flow_id: flowId, limit, cursor = '0', ...asked } = ctx.state.query as UsageQuery;
    const days = usageDays(asked);
    const filter = { ...scopeOf(ctx.state), flowId, ...days };
    const offset = Number(cursor);
    const { total, rows } = await findUsage(db, filter, { by, offset, limit: limit + 1 });
    const { page, end } = toPage(rows, limit, () => String(offset + limit));
    answerWithETag(ctx, {
      ...days,
      by,
      total: toUsage(total, { flowId }),
      entries: page.map((row) => toUsageEntry(row, { by, flowId })),
      ...end,
    });
  };
}
