// POST …/projects/{project_id}/runs/cancel: cancels the runs in flight that match a filter.
import { z } from 'zod';
import { inTransaction } from '../../db/connect.ts';
import { hasRun, listRunPage } from '../../db/runs/list-runs.ts';
import { cancelRuns, findCancellable, listUnderWay } from '../../db/runs/run-cancellation.ts';
import { OPEN_RUN_STATUSES } from '../../db/schema.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { lockOrganization } from '../../db/tenants/organizations.ts';
import { cancelEach, cancelRunWorkflow } from '../../temporal/cancel-workflow.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { loadProject } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { readBody } from '../http/json-body.ts';
import { authorOf } from '../http/principal.ts';
import { unknownCursor } from '../http/request-errors.ts';
import { PROJECT_ERRORS, PROJECTS_PATH } from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body } from '../reference/operations.ts';
import { bulkCancelFilter, bulkCancelled } from '../reference/run-examples.ts';
import { BULK_MAX, bulkAnswer, bulkFilter, refuseQuery } from './run-list-query.ts';
import { executionId } from './run-shapes/answers.ts';

const cancelRequest = bulkFilter
  .extend({
    status: z.enum(OPEN_RUN_STATUSES).optional().meta({
      description: 'Absent: every unfinished run, including runs that wait for their caller.',
    }),
  })
  .meta({ id: 'CancelRunsRequest' });

const cancelAnswer = bulkAnswer
  .extend({
    cancelled: z.array(executionId).meta({ description: 'The runs that are being cancelled.' }),
  })
  .meta({ id: 'CancelledRuns' });

/** Describes the endpoint that cancels runs of a project. */
export function cancelRunsRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'post',
      path: `${PROJECTS_PATH}/:project_id/runs/cancel`,
      operation: {
        operationId: 'cancelRuns',
        summary: 'Cancel the runs of a project that a filter finds',
        description: `Cancels up to ${BULK_MAX} runs that have not ended, the newest first, each as …/cancel does; they end within seconds. Passes over runs that are being cancelled already: the request may be repeated.`,
        tags: ['Runs'],
        requestBody: body(cancelRequest, { flow: bulkCancelFilter }),
        responses: {
          200: answer('The runs are being cancelled.', cancelAnswer, { cancelled: bulkCancelled }),
          ...PROJECT_ERRORS,
          ...BODY_ERRORS,
        },
      },
      handlers: [
        ...identifyCaller(deps, 'run'),
        loadProject(deps, 'member'),
        refuseQuery,
        readBody(deps, cancelRequest),
        cancelMatching(deps),
      ],
    },
  ];
}

function cancelMatching(deps: ApiDeps): ApiMiddleware {
  const { db } = deps;
  return async function cancelMatching(ctx) {
    const { cursor, dryRun, ...filter } = ctx.state.body as z.output<typeof cancelRequest>;
    const { id: projectId, organization_id: organizationId } = ctx.state.project;
    if (cursor !== undefined && !(await hasRun(db, { projectId }, cursor))) throw unknownCursor();
    const page = { projectId, ...filter, open: true, after: cursor };
    const { runs, next: nextCursor } = await listRunPage(db, page);
    const ids = runs.map((run) => run.execution_id);
    const end = { hasMore: nextCursor !== null, nextCursor };
    if (dryRun) {
      const cancellable = await findCancellable(db, ids);
      ctx.body = { cancelled: [], matching: ids.filter((id) => cancellable.has(id)), ...end };
      return;
    }
    const author = authorOf(ctx.state.principal, ctx.state.requestId);
    const cancelled = await inTransaction(db, async (tx) => {
      const marked = new Set((await cancelRuns(tx, ids, author.actor)).map(({ id }) => id));
      // Authorized again, because the body may have arrived slowly. After the runs are locked, by the lock order
      // (docs/decisions/0018-lock-order.md).
      await lockOrganization(tx, organizationId);
      await ctx.state.authorizeAgain?.(tx);
      const details = JSON.parse(JSON.stringify({ ...filter, cursor, cancelled: marked.size }));
      await recordChange(tx, author, {
        organizationId,
        action: 'runs.cancel',
        resourceId: projectId,
        details,
      });
      return ids.filter((id) => marked.has(id));
    });
    const calls = await listUnderWay(db, cancelled);
    await cancelEach(
      calls.map((call) => () => cancelRunWorkflow(deps, call)),
      deps.stopping,
    );
    ctx.body = { cancelled, ...end };
  };
}
