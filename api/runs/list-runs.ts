// GET …/runs of a flow, of a project and of an organization: lists of runs.

import type { z } from 'zod';
import type { ZodOpenApiResponsesObject } from 'zod-openapi';
import { hasRun, type ListedRun, listRunPage, type RunScope } from '../../db/runs/list-runs.ts';
import { findStuckRuns, type StuckRun } from '../../db/runs/stuck-calls.ts';
import { identifyCaller, identifyUser } from '../auth/authenticate.ts';
import { authorizeOrganization, loadProject } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, ApiState, Route } from '../http/context.ts';
import { answerWithETag, ifNoneMatch } from '../http/etag.ts';
import { readQuery } from '../http/query.ts';
import { unknownCursor } from '../http/request-errors.ts';
import {
  identifyOperator,
  OPERATOR_ERRORS,
  OPERATOR_PATH,
  operatorOperation,
} from '../operator/identify-operator.ts';
import {
  ORGANIZATIONS_PATH,
  PROJECT_ERRORS,
  PROJECTS_PATH,
  RESOURCE_ERRORS,
  USERS_ONLY,
} from '../reference/management-operations.ts';
import { FLOW_PATH, pageWithETag, VALIDATION_ERRORS } from '../reference/operations.ts';
import { listedRunPage, runPage } from '../reference/run-examples.ts';
import { loadFlowIds } from './calls/load-flow.ts';
import { READ_ERRORS } from './run-errors.ts';
import {
  operatorRunListQuery,
  organizationRunListQuery,
  projectRunListQuery,
  type RunListQuery,
  runListQuery,
} from './run-list-query.ts';
import { listedRuns, runList, stuckField } from './run-shapes/answers.ts';
import { describeRun, describeState } from './run-shapes/describe-run.ts';

/** Describes the endpoint that lists runs. */
export function runRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: `${FLOW_PATH}/runs`,
      operation: {
        operationId: 'listRuns',
        summary: 'List the runs of a flow, in every version, newest first',
        tags: ['Execution'],
        requestParams: { query: runListQuery, header: ifNoneMatch },
        responses: {
          ...pageWithETag('A page of runs.', runList, { page: runPage }),
          ...READ_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [
        ...identifyCaller(deps, 'run', 'read'),
        loadFlowIds(deps),
        readQuery(runListQuery),
        listFlowRuns(deps),
      ],
    },
  ];
}

function listFlowRuns(deps: ApiDeps): ApiMiddleware {
  return async function listFlowRuns(ctx) {
    const { flowId } = ctx.state.flowIds;
    const { runs, ...end } = await readRunPage(deps, { flowId }, ctx.state.query as RunListQuery);
    const described = runs.map(async (run) => ({
      ...(await describeRun(deps, run)),
      ...stuckField(run.stuck),
    }));
    answerWithETag(ctx, { runs: await Promise.all(described), ...end });
  };
}

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

/** Lists the endpoint that lists the runs of every organization, for operators. */
export function operatorRunRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: `${OPERATOR_PATH}/runs`,
      operation: {
        ...operationOf(operatorRunListQuery, OPERATOR_ERRORS),
        ...operatorOperation,
        operationId: 'listAllRuns',
        summary: 'List the runs of all organizations, newest first',
      },
      handlers: [
        ...identifyOperator(deps),
        readQuery(operatorRunListQuery),
        list(deps, () => ({ all: true })),
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

/**
 * Reads a page of the runs of a flow, project or organization. Throws VALIDATION_ERROR for a cursor of another list.
 */
async function readRunPage(
  { db }: Pick<ApiDeps, 'db'>,
  scope: RunScope,
  { cursor, minCost, ...filter }: RunListQuery,
): Promise<{
  runs: (ListedRun & { stuck?: StuckRun | undefined })[];
  hasMore: boolean;
  nextCursor: string | null;
}> {
  if (cursor !== undefined && !(await hasRun(db, scope, cursor))) throw unknownCursor();
  const query = { ...scope, ...filter, after: cursor, minMicrocredits: minCost };
  const { runs, next } = await listRunPage(db, query);
  const end = { hasMore: next !== null, nextCursor: next };
  if (!query.stuck || runs.length === 0) return { runs, ...end };
  const found = await findStuckRuns(
    db,
    runs.map((run) => run.execution_id),
  );
  return { runs: runs.map((run) => ({ ...run, stuck: found.get(run.execution_id) })), ...end };
}
