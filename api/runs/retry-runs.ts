// POST …/projects/{project_id}/runs/retry: retries the failed runs that match a filter, each once.
import { z } from 'zod';
import type { Tx } from '../../db/connect.ts';
import { continueBulkRetry, endBulkRequest, insertBulkRetry } from '../../db/runs/bulk-retries.ts';
import { hasRun, type ListedRun, listRunPage, listRunsById } from '../../db/runs/list-runs.ts';
import { toNewestAttempts } from '../../db/runs/newest-attempts.ts';
import type { Refusal } from '../../db/tables/bulk-retries.ts';
import { type Author, recordChange } from '../../db/tenants/audit-entries.ts';
import type { ErrorCode } from '../../flow/errors.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { loadProject, writeAuthorized } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { errorCode } from '../http/headers.ts';
import { takeIdempotencyKey } from '../http/idempotency-key.ts';
import { readBody } from '../http/json-body.ts';
import { accessOf, type Principal, userOf } from '../http/principal.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { invalidField, unknownCursor } from '../http/request-errors.ts';
import { PROJECT_ERRORS, PROJECTS_PATH } from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body } from '../reference/operations.ts';
import { retriedRuns, retryFilter } from '../reference/run-examples.ts';
import { acquireForCaller } from './calls/admit.ts';
import { startSoon } from './calls/describe-outcome.ts';
import { modelKeyHeaders, readModelKeys } from './calls/read-model-keys.ts';
import { requireStillAllowed } from './calls/require-still-allowed.ts';
import { type Retried, type Retrier, retryEach, sortOutRetries } from './retry-each.ts';
import { MAY_NOT_RUN } from './run-errors.ts';
import { errorGroupFilter } from './run-filters.ts';
import { BULK_MAX, bulkAnswer, bulkFilter, refuseQuery } from './run-list-query.ts';
import { bulkId, executionId } from './run-shapes/answers.ts';
import { describedChoice, repeated } from './run-shapes/repetitions.ts';

const retryRequest = bulkFilter
  .extend({
    on_version: describedChoice,
    outcome: z
      .enum(['failed', 'refused', 'cancelled'])
      .optional()
      .meta({ description: 'Absent: failed and refused runs.' }),
    bulk_id: bulkId.optional().meta({
      description: 'The bulk retry that this page continues: `bulk_id` of the page before.',
    }),
    error_group: errorGroupFilter,
    errorCode: errorCode.optional().meta({
      description:
        'Only runs that failed with this code. A page then looks at 500 runs at most: it may have none while `hasMore` is true.',
    }),
  })
  .meta({ id: 'RetryRunsRequest' });

export const refusedRun = z.object({ executionId, code: errorCode, errorMessage: z.string() });
const retryAnswer = bulkAnswer
  .extend({
    bulk_id: bulkId.nullable().meta({
      description:
        'The bulk retry of this request (…/bulk-retries); null in a dry run, and when no run can be retried.',
    }),
    retried: z
      .array(z.object({ executionId, ...repeated }))
      .meta({ description: 'The new runs; `repeats` is the failed one.' }),
    refused: z.array(refusedRun).meta({ description: 'Failed runs that were not retried, with the reason.' }),
    stoppedBy: errorCode.nullable().meta({
      description: 'The error, such as INSUFFICIENT_CREDITS, for which no further run was tried.',
    }),
  })
  .meta({ id: 'RetriedRuns' });

/** Describes the endpoint that retries failed runs of a project. */
export function retryRunsRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'post',
      path: `${PROJECTS_PATH}/:project_id/runs/retry`,
      operation: {
        operationId: 'retryRuns',
        summary: 'Retry the failed runs of a project that a filter finds',
        description: `Retries up to ${BULK_MAX} failed runs, the newest first, each as …/retry does. Of a run that was run again since, in whatever way, the newest attempt is retried if it has failed, whether or not the filter finds it. Refuses cancelled runs, unless the filter asks for this outcome.`,
        tags: ['Runs'],
        requestParams: { header: modelKeyHeaders },
        requestBody: body(retryRequest, { flow: retryFilter }),
        responses: {
          200: answer('The new runs are accepted.', retryAnswer, { retried: retriedRuns }),
          ...PROJECT_ERRORS,
          ...MAY_NOT_RUN,
          ...BODY_ERRORS,
        },
      },
      handlers: [
        ...identifyCaller(deps, 'run'),
        loadProject(deps, 'member'),
        refuseQuery,
        readBody(deps, retryRequest),
        readModelKeys(deps),
        takeIdempotencyKey(deps),
        retryRuns(deps),
      ],
    },
  ];
}

function retryRuns(deps: ApiDeps): ApiMiddleware {
  return async function retryRuns(ctx) {
    const { state, res } = ctx;
    const { id: projectId, organization_id: organizationId } = state.project;
    ctx.body = await retryMatching(deps, state.body as RetryRequest, {
      principal: state.principal,
      projectId,
      organizationId,
      keyId: state.key?.key_id,
      modelKeys: state.modelKeys,
      requestId: state.requestId,
      signal: readerSignal(res, deps.cutOff),
      // Authorized again, because the body may have arrived slowly.
      record: (write) => writeAuthorized(deps.db, state, write),
      isKeyed: state.keyed !== undefined,
    });
  };
}

export type RetryRequest = z.output<typeof retryRequest>;
/**
 * Who retries, and in which project. `record` authorizes the caller and writes in the same transaction, once for the
 * Idempotency-Key of a request.
 */
type RetryingCaller = Pick<Retrier, 'projectId' | 'keyId' | 'modelKeys' | 'requestId' | 'isKeyed'> & {
  principal: Principal;
  organizationId: string;
  signal: AbortSignal;
  record: <T>(write: (tx: Tx, author: Author) => Promise<T>) => Promise<T>;
};
type RetryAnswer = {
  bulk_id: string | null;
  matching?: string[];
  retried: Retried[];
  refused: Refusal[];
  stoppedBy: ErrorCode | null;
  hasMore: boolean;
  nextCursor: string | null;
};

/** Retries the failed runs of a project that a filter finds; shared by HTTP and MCP. Throws when no run can be retried. */
export async function retryMatching(
  deps: ApiDeps,
  { cursor, dryRun, on_version: onVersion, bulk_id: continued, limit, ...filter }: RetryRequest,
  { principal, organizationId, signal, record, ...retrier }: RetryingCaller,
): Promise<RetryAnswer> {
  const { projectId } = retrier;
  if (cursor !== undefined && !(await hasRun(deps.db, { projectId }, cursor))) throw unknownCursor();
  const wanted = { projectId, status: 'failed' as const, ...filter, limit, after: cursor };
  const page = await listRunPage(deps.db, wanted);
  const newest = await toNewestAttempts(deps.db, page.runs, wanted);
  const cancelledToo = filter.outcome === 'cancelled';
  const found = sortOutRetries(newest, { cancelledToo });
  if (dryRun) {
    await record(async () => undefined);
    return {
      bulk_id: null,
      retried: [],
      ...found,
      stoppedBy: null,
      hasMore: page.next !== null,
      nextCursor: page.next,
    };
  }
  const asked = JSON.parse(JSON.stringify({ ...filter, on_version: onVersion }));
  // Each run is accepted in its own transaction. The audit entry comes before the first, so that no run is retried
  // without an entry. A repeated request gets the runs that the first one found.
  let isFirst = false;
  const { bulkId, ids, listed, next } = await record(async (tx, author) => {
    isFirst = true;
    const planned = found.matching.length;
    const bulkId = await beginRequest(tx, continued, {
      ...{ organizationId, projectId, planned },
      startedBy: author.actor,
      filter: asked,
    });
    const details = JSON.parse(
      JSON.stringify({ ...asked, limit, cursor, matching: planned, bulk_id: bulkId }),
    );
    await recordChange(tx, author, { organizationId, action: 'runs.retry', resourceId: projectId, details });
    return { bulkId, ids: idsOf(newest), listed: idsOf(page.runs), next: page.next };
  });
  const runs = isFirst ? newest : await listRunsById(deps.db, ids);
  runs.sort((a, b) => ids.indexOf(a.execution_id) - ids.indexOf(b.execution_id));
  const { retried, refused, stoppedBy, last } = await retryEach(deps, runs, {
    ...retrier,
    within: accessOf(principal),
    userId: userOf(principal),
    onVersion,
    bulkId,
    cancelledToo,
    // A user retries runs of both environments.
    ...(principal.kind === 'key' && { environment: principal.environment }),
    inTurn: acceptInTurn(deps, principal, signal),
  });
  const lastFound = last === undefined ? cursor : listed[ids.indexOf(last)];
  const nextCursor = stoppedBy === null ? next : (lastFound ?? null);
  const end = { stoppedBy: stoppedBy?.code ?? null, nextCursor };
  const planned = new Set(found.matching);
  if (isFirst && bulkId !== undefined)
    await endBulkRequest(deps.db, bulkId, {
      ...end,
      refused: refused.filter(({ executionId }) => planned.has(executionId)),
    });
  if (stoppedBy && retried.length === 0) throw stoppedBy;
  const hasMore = stoppedBy !== null || next !== null;
  return { bulk_id: bulkId ?? null, retried, refused, ...end, hasMore };
}

function idsOf(runs: ListedRun[]): string[] {
  return runs.map((run) => run.execution_id);
}

/**
 * Begins a bulk retry, or a further request of one, and returns its id; undefined when there is nothing to retry. Throws
 * VALIDATION_ERROR for an unknown id, and CONFLICT for a bulk retry that was cancelled.
 */
async function beginRequest(
  tx: Tx,
  bulkId: string | undefined,
  bulk: Parameters<typeof insertBulkRetry>[1],
): Promise<string | undefined> {
  if (bulkId === undefined) return bulk.planned > 0 ? insertBulkRetry(tx, bulk) : undefined;
  if (!(await continueBulkRetry(tx, bulkId, bulk)))
    throw invalidField('bulk_id', 'must be the bulk_id of a bulk retry of this project');
  return bulkId;
}

/** Makes the function that accepts and starts a run under the organization's permit. */
export function acceptInTurn(
  deps: ApiDeps,
  principal: Principal,
  signal: AbortSignal,
): NonNullable<Retrier['inTurn']> {
  return async (flow, accept) => {
    const permit = await acquireForCaller(deps, { principal, flow }, { signal, priority: 'low' });
    try {
      // The caller was admitted before the first run, and earlier runs may have taken long.
      await requireStillAllowed(deps, principal, flow.organizationId);
      const call = await accept();
      if (call.outcome) permit.release();
      else await startSoon(deps, call, permit);
      return call;
    } catch (error) {
      permit.release();
      throw error;
    }
  };
}
