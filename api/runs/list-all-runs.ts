import type { z } from 'zod';
import type { ZodOpenApiResponsesObject } from 'zod-openapi';
import type { RunScope } from '../../db/runs/list-runs.ts';
import { authorizeOrganization } from '../auth/authorize-organization.ts';
import { identifyCaller, identifyUser } from '../auth/identify-caller.ts';
import { loadProject } from '../auth/load-project.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, ApiState, Route } from '../http/context.ts';
import { answerWithETag, ifNoneMatch } from '../http/etag.ts';
import { readQuery } from '../http/query.ts';
import {
  ORGANIZATIONS_PATH,
  PROJECT_ERRORS,
  PROJECTS_PATH,
  RESOURCE_ERRORS,
  USERS_ONLY,
} from '../reference/management-operations.ts';
import { pageWithETag, VALIDATION_ERRORS } from '../reference/operations.ts';
import { listedRunPage } from '../reference/run-examples.ts';
import { readRunPage } from './read-run-page.ts';
import { organizationRunListQuery, projectRunListQuery, type RunListQuery } from './run-list-query.ts';
import { listedRuns } from './run-shapes/answers.ts';
import { describeState } from './run-shapes/describe-run.ts';
import { stuckField } from './run-shapes/stuck-field.ts';

/** Lists the endpoints that list the runs of a project and of an organization. */
export function allRunsRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: `${PROJECTS_PATH}/:project_id/runs`,
      operation: {
        ...operationOf(projectRunListQuery, PROJECT_ERRORS),
        operationId: 'listProjectRuns',
        summary: 'List the runs of a project, newest first',
      },
      handlers: [
        ...identifyCaller(deps, 'run', 'read'),
        loadProject(deps, 'member'),
        readQuery(projectRunListQuery),
        list(deps, ({ project }) => ({ projectId: project.id })),
      ],
    },
    {
      method: 'get',
      path: `${ORGANIZATIONS_PATH}/:org_id/runs`,
      operation: {
        ...operationOf(organizationRunListQuery, RESOURCE_ERRORS),
        security: USERS_ONLY,
        operationId: 'listOrganizationRuns',
        summary: 'List the runs of an organization, newest first',
      },
      handlers: [
        ...identifyUser(deps),
        authorizeOrganization(deps, { role: 'member' }),
        readQuery(organizationRunListQuery),
        list(deps, ({ membership }) => ({ organizationId: membership.organizationId })),
      ],
    },
  ];
}

function operationOf(query: z.ZodObject, errors: ZodOpenApiResponsesObject) {
  return {
    description:
      'Runs of every version and mode, without those of deleted flows. Ask again with the ETag: 304 while nothing has changed.',
    tags: ['Runs'],
    requestParams: { query, header: ifNoneMatch },
    responses: {
      ...pageWithETag('A page of runs.', listedRuns, { page: listedRunPage }),
      ...errors,
      ...VALIDATION_ERRORS,
    },
  };
}

function list(deps: ApiDeps, scopeOf: (state: ApiState) => RunScope): ApiMiddleware {
  return async function list(ctx) {
    const { runs, ...end } = await readRunPage(deps, scopeOf(ctx.state), ctx.state.query as RunListQuery);
    const described = runs.map((run) => {
      const { organization, project, flow } = run;
      return { ...describeState(run), organization, project, flow, ...stuckField(run.stuck) };
    });
    answerWithETag(ctx, { runs: described, ...end });
  };
}
