// GET …/organizations/{org_id}/usage and GET …/projects/{project_id}/usage: sums of what was used.
import type { z } from 'zod';
import type { ZodOpenApiResponsesObject } from 'zod-openapi';
import { CODE } from '../../db/usage/count-usage.ts';
import { findUsage, type UsageFilter, type UsageRow } from '../../db/usage/find-usage.ts';
import type { UsageDimension } from '../../db/usage/usage-dimensions.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';
import { identifyCaller, identifyUser } from '../auth/authenticate.ts';
import { authorizeOrganization, loadProject } from '../auth/authorize.ts';
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
import { toTokens } from '../runs/run-shapes/block-answers.ts';
import {
  organizationUsageQuery,
  projectUsageQuery,
  type UsageQuery,
  usageDays,
  usageReport,
} from './usage-schemas.ts';

/** The dimension of an entry, and the flow to which the query is limited. */
type Asked = { by?: UsageDimension; flowId?: string | undefined };

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
      entries: page.map((row) => ({ ...nameOf(row, by), ...toUsage(row, { by, flowId }) })),
      ...end,
    });
  };
}

/** Describes the sums of a row; null for sums that do not apply. */
function toUsage(row: UsageRow, { by, flowId }: Asked) {
  const ofModels = by === 'model';
  return {
    credits: row.microcredits / MICROCREDITS_PER_CREDIT,
    modelCalls: row.model_calls,
    failedModelCalls: row.failed_model_calls,
    ...toTokens(row),
    modelLatencyMs: toLatency(row.model_p50, row.model_p95, row.model_p99),
    runs: ofModels ? null : row.runs,
    failedRuns: ofModels ? null : row.failed_runs,
    cancelledRuns: ofModels ? null : row.cancelled_runs,
    refusedRuns: ofModels ? null : row.refused_runs,
    runLatencyMs: toLatency(row.run_p50, row.run_p95, row.run_p99),
    refused: flowId || by === 'flow' || by === 'version' || ofModels ? null : row.refused,
  };
}

function nameOf({ id, version, name, project }: UsageRow, by: UsageDimension) {
  switch (by) {
    case 'day':
      return { day: id };
    case 'project':
      return { projectId: id, name };
    case 'flow':
      return { flowId: id, name, project };
    case 'version':
      return { flowId: id, version, name, project };
    case 'model':
      return { model: id === CODE ? null : id };
    case 'key':
      return { keyId: id || null, name, project };
  }
}

function toLatency(p50: number | null, p95: number | null, p99: number | null) {
  return p50 === null ? null : { p50, p95, p99 };
}
