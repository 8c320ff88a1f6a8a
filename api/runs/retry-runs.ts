// POST …/projects/{project_id}/runs/retry: retries the failed runs that match a filter, each once.
import { z } from 'zod';
import { hasRun, listRunPage } from '../../db/runs/list-runs.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import type { ErrorCode } from '../../flow/errors.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { loadProject, writeAuthorized } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { errorCode } from '../http/headers.ts';
import { readBody } from '../http/json-body.ts';
import { unknownCursor } from '../http/page.ts';
import { accessOf, isOperator, type Principal, userOf } from '../http/principal.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { PROJECT_ERRORS, PROJECTS_PATH } from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body } from '../reference/operations.ts';
import { retriedRuns, retryFilter } from '../reference/run-examples.ts';
import { acquireForCaller } from './calls/admit.ts';
import { startSoon } from './calls/describe-outcome.ts';
import { modelKeyHeaders, readModelKeys } from './calls/read-model-keys.ts';
import { requireStillAllowed } from './calls/require-still-allowed.ts';
import { type Refused, type Retried, type Retrier, retryEach, sortOutRetries } from './retry-each.ts';
import { MAY_NOT_RUN } from './run-errors.ts';
import { BULK_MAX, bulkAnswer, bulkFilter, refuseQuery } from './run-list-query.ts';
import { executionId } from './run-shapes/answers.ts';
import { describedChoice, repeated } from './run-shapes/repetitions.ts';

const retryRequest = bulkFilter
  .extend({
    on_version: describedChoice,
    outcome: z.enum(['failed', 'refused']).optional(),
    errorCode: errorCode.optional().meta({
      description:
        'Only runs that failed with this code. A page then looks at 500 runs at most: it may have none while `hasMore` is true.',
    }),
  })
  .meta({ id: 'RetryRunsRequest' });

const refusedRun = z.object({ executionId, code: errorCode, errorMessage: z.string() });
const retryAnswer = bulkAnswer
  .extend({
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
        description: `Retries up to ${BULK_MAX} failed runs, the newest first, each as …/retry does. Refuses runs that were run again since, in whatever way, or that were cancelled: of each run, the newest attempt is retried if it has failed.`,
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
      record: (change) =>
        writeAuthorized(deps.db, state, async (tx, author) => {
          if (change) await recordChange(tx, author, change);
        }),
    });
  };
}

export type RetryRequest = z.output<typeof retryRequest>;
/** Who retries, and in which project. `record` authorizes the caller and writes the audit entry; there is none in a dry run. */
type RetryingCaller = Pick<Retrier, 'projectId' | 'keyId' | 'modelKeys' | 'requestId'> & {
  principal: Principal;
  organizationId: string;
  signal: AbortSignal;
  record: (change: Parameters<typeof recordChange>[2] | undefined) => Promise<void>;
};
type RetryAnswer = {
  matching?: string[];
  retried: Retried[];
  refused: Refused[];
  stoppedBy: ErrorCode | null;
  hasMore: boolean;
  nextCursor: string | null;
};

/** Retries the failed runs of a project that a filter finds; shared by HTTP and MCP. Throws when no run can be retried. */
export async function retryMatching(
  deps: ApiDeps,
  { cursor, dryRun, on_version: onVersion, ...filter }: RetryRequest,
  { principal, organizationId, signal, record, ...retrier }: RetryingCaller,
): Promise<RetryAnswer> {
  const { projectId } = retrier;
  if (cursor !== undefined && !(await hasRun(deps.db, { projectId }, cursor))) throw unknownCursor();
  const page = { projectId, status: 'failed' as const, ...filter, after: cursor };
  const { runs, next } = await listRunPage(deps.db, page);
  const found = sortOutRetries(runs);
  const matching = found.matching.length;
  const details = JSON.parse(JSON.stringify({ ...filter, on_version: onVersion, cursor, matching }));
  // Each run is accepted in its own transaction. The audit entry comes before the first, so that no run is retried
  // without an entry.
  await record(dryRun ? undefined : { organizationId, action: 'runs.retry', resourceId: projectId, details });
  if (dryRun) return { retried: [], ...found, stoppedBy: null, hasMore: next !== null, nextCursor: next };
  const { retried, refused, stoppedBy, last } = await retryEach(deps, runs, {
    ...retrier,
    within: accessOf(principal),
    userId: userOf(principal),
    onVersion,
    // An operator retries runs of both environments.
    ...(!isOperator(principal) && { environment: principal.environment }),
    inTurn: acceptInTurn(deps, principal, signal),
  });
  if (stoppedBy && retried.length === 0) throw stoppedBy;
  const nextCursor = stoppedBy === null ? next : (last ?? cursor ?? null);
  const hasMore = stoppedBy !== null || next !== null;
  return { retried, refused, stoppedBy: stoppedBy?.code ?? null, hasMore, nextCursor };
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
