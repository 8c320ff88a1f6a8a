// The endpoints of a project's flows.
import { z } from 'zod';
import { type FlowSummary, findFlowSummary, listFlowSummaries } from '../../db/flows/flow-summaries.ts';
import { FLOWS_MAX, flowSlugTaken } from '../../db/flows/flows.ts';
import { identifyCaller, identifyUser } from '../auth/authenticate.ts';
import { loadProject, writeAuthorized } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext, ApiMiddleware, Route } from '../http/context.ts';
import { requireMatch } from '../http/etag.ts';
import { takeIdempotencyKey } from '../http/idempotency-key.ts';
import { readBody } from '../http/json-body.ts';
import { pageQuery, toPage } from '../http/page.ts';
import { readQuery } from '../http/query.ts';
import * as example from '../reference/flow-examples.ts';
import { CHANGED, etagOfWhat, ifMatch } from '../reference/if-match.ts';
import {
  conflict,
  done,
  FLOWS_PATH,
  PROJECT_ERRORS,
  ROLE_ERRORS,
  USERS_ONLY,
} from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body, VALIDATION_ERRORS } from '../reference/operations.ts';
import { outcomeField } from '../runs/run-shapes/describe-run.ts';
import { flowETag } from './flow-etag.ts';
import { flowIdOf, flowOfProjectNotFound, writeFlow } from './flow-of-path.ts';
import { createFlow, removeFlow, renameFlow } from './recorded-flow-writes.ts';
import { createFlowRequest, flowList, flowRecord, updateFlowRequest } from './schemas.ts';
import { nameSchema } from './written-flow.ts';

const FLOW = `${FLOWS_PATH}/:flow_id`;
const listQuery = pageQuery(z.string().regex(/^[a-z0-9-]+$/, 'must be a nextCursor of this list')).extend({
  search: nameSchema
    .optional()
    .meta({ description: 'Only flows that have this text in their name or slug, in upper or lower case.' }),
});
const common = { tags: ['Flows'] };
const one = answer(
  'The flow.',
  flowRecord,
  { flow: example.flow },
  etagOfWhat('Names the name and description.'),
);

export function flowRoutes(deps: ApiDeps): Route[] {
  const load = loadProject(deps, 'member');
  const toRead = [...identifyCaller(deps, 'read', 'deploy'), load];
  const toWrite = [...identifyCaller(deps, 'deploy'), load];
  return [
    {
      method: 'post',
      path: FLOWS_PATH,
      operation: {
        ...common,
        operationId: 'createFlow',
        summary: 'Create a flow with an empty draft',
        requestBody: body(createFlowRequest, { flow: example.newFlow }),
        responses: {
          201: one,
          ...PROJECT_ERRORS,
          ...conflict(
            `The slug is taken, or the organization has ${FLOWS_MAX.toLocaleString('en')} flows.`,
            flowSlugTaken(example.newFlow.slug).message,
          ),
          ...BODY_ERRORS,
        },
      },
      handlers: [...toWrite, readBody(deps, createFlowRequest), takeIdempotencyKey(deps), addFlow(deps)],
    },
    {
      method: 'get',
      path: FLOWS_PATH,
      operation: {
        ...common,
        operationId: 'listFlows',
        summary: 'List the flows of a project, by slug',
        requestParams: { query: listQuery },
        responses: {
          200: answer('A page of flows.', flowList, { page: example.flowPage }),
          ...PROJECT_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...toRead, readQuery(listQuery), listPage(deps)],
    },
    {
      method: 'get',
      path: FLOW,
      operation: {
        ...common,
        operationId: 'getFlow',
        summary: 'Get a flow',
        responses: { 200: one, ...PROJECT_ERRORS },
      },
      handlers: [...toRead, getOne(deps)],
    },
    {
      method: 'put',
      path: FLOW,
      operation: {
        ...common,
        operationId: 'updateFlow',
        summary: 'Change the name or description of a flow',
        requestParams: { header: ifMatch },
        requestBody: body(updateFlowRequest, { name: example.renaming }),
        responses: { 200: one, ...PROJECT_ERRORS, ...BODY_ERRORS, ...CHANGED.flow },
      },
      handlers: [...toWrite, readBody(deps, updateFlowRequest), putFlow(deps)],
    },
    {
      method: 'delete',
      path: FLOW,
      operation: {
        ...common,
        security: USERS_ONLY,
        operationId: 'deleteFlow',
        summary: 'Delete a flow (owners and admins)',
        description:
          'No further run of it is accepted, and its slug can be used again. Runs under way go on, and can still be read, followed and cancelled by their ids.',
        requestParams: { header: ifMatch },
        responses: { 204: done('The flow is deleted.'), ...ROLE_ERRORS, ...CHANGED.flow },
      },
      handlers: [...identifyUser(deps), loadProject(deps, 'admin'), deleteOne(deps)],
    },
  ];
}

function addFlow(deps: ApiDeps): ApiMiddleware {
  return async function addFlow(ctx) {
    const { project } = ctx.state;
    const named = ctx.state.body as z.output<typeof createFlowRequest>;
    const { id } = await writeAuthorized(deps.db, ctx.state, (tx, author) =>
      createFlow(tx, author, project, named),
    );
    ctx.status = 201;
    await answerFlow(deps, ctx, id);
  };
}

function listPage({ db }: ApiDeps): ApiMiddleware {
  return async function listPage(ctx) {
    const { limit, cursor = '', search } = ctx.state.query as z.output<typeof listQuery>;
    const rows = await listFlowSummaries(db, ctx.state.project.id, {
      after: cursor,
      limit: limit + 1,
      search,
    });
    const { page, end } = toPage(rows, limit, ({ slug }) => slug);
    ctx.body = { flows: page.map(toFlowRecord), ...end };
  };
}

function getOne(deps: ApiDeps): ApiMiddleware {
  return async function getOne(ctx) {
    await answerFlow(deps, ctx, flowIdOf(ctx));
  };
}

function putFlow(deps: ApiDeps): ApiMiddleware {
  return async function putFlow(ctx) {
    const named = ctx.state.body as z.output<typeof updateFlowRequest>;
    const id = await writeFlow(deps.db, ctx, async (tx, author, flow) => {
      requireMatch(ctx.get('If-Match'), flowETag(flow), 'flow');
      await renameFlow(tx, author, flow, named);
      return flow.id;
    });
    await answerFlow(deps, ctx, id);
  };
}

function deleteOne(deps: ApiDeps): ApiMiddleware {
  return async function deleteOne(ctx) {
    await writeFlow(deps.db, ctx, (tx, author, flow) => {
      requireMatch(ctx.get('If-Match'), flowETag(flow), 'flow');
      return removeFlow(tx, author, flow);
    });
    ctx.status = 204;
  };
}

async function answerFlow({ db }: ApiDeps, ctx: ApiContext, flowId: string): Promise<void> {
  const row = await findFlowSummary(db, ctx.state.project.id, flowId);
  if (!row) throw flowOfProjectNotFound();
  ctx.set('ETag', flowETag(row));
  ctx.body = toFlowRecord(row);
}

/** Describes a flow for responses. */
function toFlowRecord(row: FlowSummary): z.input<typeof flowRecord> {
  return {
    id: row.id,
    projectId: row.project_id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    productionVersion: row.production_version,
    latestVersion: row.latest_version,
    draftIsProduction: row.draft_is_production === true,
    draftIsPublished: row.draft_is_latest === true,
    lastRun: toLastRun(row),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function toLastRun(row: FlowSummary): z.input<typeof flowRecord>['lastRun'] {
  const { last_run_id: executionId, last_run_status: status, last_run_started_at: startedAt } = row;
  const { last_run_outcome: outcome } = row;
  if (!executionId || !status || !outcome || !startedAt) return null;
  const code = status === 'failed' ? row.last_run_code : null;
  return {
    executionId,
    status,
    ...outcomeField({ status, outcome }),
    ...(code && { code }),
    startedAt: startedAt.toISOString(),
  };
}
