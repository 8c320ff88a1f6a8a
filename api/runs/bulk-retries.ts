// …/projects/{project_id}/bulk-retries: what requests to retry many runs began, its progress, and its cancellation.
import { z } from 'zod';
import { inTransaction } from '../../db/connect.ts';
import {
  type BulkRetryRow,
  findBulkRetry,
  listBulkRetries,
  listOpenRunsOf,
  markBulkRetryCancelled,
} from '../../db/runs/bulk-retries.ts';
import { cancelRuns, listUnderWay } from '../../db/runs/run-cancellation.ts';
import { RUN_OUTCOMES } from '../../db/schema.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { cancelEach, cancelRunWorkflow } from '../../temporal/cancel-workflow.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { loadProject, writeAuthorized } from '../auth/authorize.ts';
import { notVisible } from '../auth/caller.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { errorCode } from '../http/headers.ts';
import { pageLimit, pageOf, pageQuery, toPage } from '../http/page.ts';
import { readQuery } from '../http/query.ts';
import { PROJECT_ERRORS, PROJECTS_PATH } from '../reference/management-operations.ts';
import { answer, VALIDATION_ERRORS } from '../reference/operations.ts';
import * as example from '../reference/run-examples.ts';
import { refusedRun } from './retry-runs.ts';
import { bulkId } from './run-shapes/answers.ts';

const BULK_PATH = `${PROJECTS_PATH}/:project_id/bulk-retries`;

const count = z.int().min(0);
const listed = z
  .object({
    bulk_id: bulkId.meta({ description: 'The id of the bulk retry.' }),
    startedBy: z.string().meta({ description: 'A user id, `api_key/{key_id}` or `operator/{key_id}`.' }),
    startedAt: z.iso.datetime(),
    filter: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The filter of the request, and its `on_version`.' }),
    planned: count.meta({ description: 'Failed runs that its requests have found so far.' }),
    refused: count.meta({ description: 'How many of them were not retried.' }),
    started: count.meta({ description: 'How many new runs have started.' }),
    running: count.meta({ description: 'How many of these have not ended.' }),
    outcomes: z
      .object(
        Object.fromEntries(RUN_OUTCOMES.map((outcome) => [outcome, count])) as {
          [outcome in (typeof RUN_OUTCOMES)[number]]: typeof count;
        },
      )
      .meta({ description: 'How many new runs ended, by outcome.' }),
    stoppedBy: errorCode.nullable().meta({ description: 'The error that ended the last request early.' }),
    nextCursor: z.string().nullable().meta({
      description:
        'The `cursor` with which a request continues. null: there is no more or, with `stoppedBy`, the first run was not tried.',
    }),
    cancelledBy: z.string().nullable(),
    cancelledAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'ListedBulkRetry' });
export const bulkRetry = listed
  .extend({
    refusals: z
      .array(refusedRun)
      .meta({ description: 'The first 100 that were not retried, with the reason.' }),
  })
  .meta({ id: 'BulkRetry' });
export const bulkRetryList = pageOf('BulkRetryList', 'bulkRetries', listed);
const one = answer('The bulk retry.', bulkRetry, { bulkRetry: { ...example.bulkRetry, refusals: [] } });

const listQuery = pageQuery(z.uuid('must be a nextCursor of this list')).extend({ limit: pageLimit });

/** Describes the endpoints of bulk retries. */
export function bulkRetryRoutes(deps: ApiDeps): Route[] {
  const load = loadProject(deps, 'member');
  const toRead = [...identifyCaller(deps, 'run', 'read'), load];
  return [
    {
      method: 'get',
      path: BULK_PATH,
      operation: {
        operationId: 'listBulkRetries',
        summary: 'List the bulk retries of a project, newest first',
        tags: ['Runs'],
        requestParams: { query: listQuery },
        responses: {
          200: answer('A page of bulk retries.', bulkRetryList, {
            page: { bulkRetries: [example.bulkRetry], hasMore: false, nextCursor: null },
          }),
          ...PROJECT_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...toRead, readQuery(listQuery), listPage(deps)],
    },
    {
      method: 'get',
      path: `${BULK_PATH}/:bulk_id`,
      operation: {
        operationId: 'getBulkRetry',
        summary: 'Get the progress of a bulk retry',
        description: 'The list of runs has its runs, with the filter `bulk_id`.',
        tags: ['Runs'],
        responses: { 200: one, ...PROJECT_ERRORS },
      },
      handlers: [...toRead, getOne(deps)],
    },
    {
      method: 'post',
      path: `${BULK_PATH}/:bulk_id/cancel`,
      operation: {
        operationId: 'cancelBulkRetry',
        summary: 'Cancel a bulk retry',
        description:
          'It starts no further run, and its runs that have not ended are cancelled. The request may be repeated.',
        tags: ['Runs'],
        responses: { 200: one, ...PROJECT_ERRORS },
      },
      handlers: [...identifyCaller(deps, 'run'), load, cancel(deps)],
    },
  ];
}

function listPage({ db }: ApiDeps): ApiMiddleware {
  return async function listPage(ctx) {
    const { limit, cursor: after } = ctx.state.query as z.output<typeof listQuery>;
    const rows = await listBulkRetries(db, ctx.state.project.id, { after, limit: limit + 1 });
    const { page, end } = toPage(rows, limit, ({ id }) => id);
    ctx.body = { bulkRetries: page.map(describe), ...end };
  };
}

function getOne(deps: ApiDeps): ApiMiddleware {
  return async function getOne(ctx) {
    ctx.body = await getBulkRetry(deps, ctx.state.project.id, ctx.params.bulk_id);
  };
}

function cancel(deps: ApiDeps): ApiMiddleware {
  const { db } = deps;
  return async function cancel(ctx) {
    const { id: projectId, organization_id: organizationId } = ctx.state.project;
    const { bulk_id: id } = await getBulkRetry(deps, projectId, ctx.params.bulk_id);
    const actor = await writeAuthorized(db, ctx.state, async (tx, author) => {
      await markBulkRetryCancelled(tx, { projectId, bulkId: id, actor: author.actor });
      const change = { organizationId, action: 'bulk_retry.cancel', resourceId: id };
      await recordChange(tx, author, { ...change, details: { project_id: projectId } });
      return author.actor;
    });
    // In a transaction of its own: runs are locked before the organization (docs/decisions/0018-lock-order.md). Every run that
    // was stored before the mark is seen here.
    const cancelled = await inTransaction(db, async (tx) =>
      cancelRuns(tx, await listOpenRunsOf(tx, id), actor),
    );
    const calls = await listUnderWay(
      db,
      cancelled.map((run) => run.id),
    );
    await cancelEach(
      calls.map((call) => () => cancelRunWorkflow(deps, call)),
      deps.stopping,
    );
    ctx.body = await getBulkRetry(deps, projectId, id);
  };
}

async function getBulkRetry({ db }: Pick<ApiDeps, 'db'>, projectId: string, id = '') {
  const row = UUID_PATTERN.test(id) ? await findBulkRetry(db, projectId, id) : undefined;
  if (!row) throw notVisible('bulk retry');
  return { ...describe(row), refusals: row.refusals };
}

function describe({ outcomes, ...row }: BulkRetryRow): z.output<typeof listed> {
  const started = Object.values(outcomes ?? {}).reduce((sum, runs) => sum + runs, 0);
  const ended = RUN_OUTCOMES.map((outcome) => [outcome, outcomes?.[outcome] ?? 0] as const);
  return {
    bulk_id: row.id,
    startedBy: row.started_by,
    startedAt: row.started_at.toISOString(),
    filter: row.filter,
    planned: row.planned,
    refused: row.refused,
    started,
    running: started - ended.reduce((sum, [, runs]) => sum + runs, 0),
    outcomes: Object.fromEntries(ended) as z.output<typeof listed>['outcomes'],
    stoppedBy: row.stopped_by,
    nextCursor: row.next_cursor,
    cancelledBy: row.cancelled_by,
    cancelledAt: row.cancelled_at?.toISOString() ?? null,
  };
}
