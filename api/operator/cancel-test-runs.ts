// POST /operator/test-runs/cancel: cancels the test runs of every organization that a filter finds.
import { z } from 'zod';
import { inTransaction } from '../../db/connect.ts';
import { listCancellableTestRuns } from '../../db/test-runs/test-run-cancellation.ts';
import { SLUG_PATTERN } from '../../flow/limits.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { readBody } from '../http/json-body.ts';
import { moment } from '../http/moment.ts';
import { authorOf } from '../http/principal.ts';
import { answer, BODY_ERRORS, body } from '../reference/operations.ts';
import { cancelledTestRuns, testRunFilter } from '../reference/operator-examples.ts';
import { refuseQuery } from '../runs/run-list-query.ts';
import { cancelWorkflows } from '../test-cases/cancel-test-run.ts';
import { markTestRunCancelled } from '../test-cases/mark-test-run-cancelled.ts';
import { identifyOperator, OPERATOR_ERRORS, OPERATOR_PATH, operatorOperation } from './identify-operator.ts';

/** Maximum number of test runs that one request cancels. */
const CANCELLED_MAX = 25;

const slug = z.string().regex(SLUG_PATTERN, 'must be a slug').optional();
const cancelRequest = z
  .strictObject({
    organization: slug,
    project: slug,
    flow: slug,
    since: moment.optional(),
    until: moment.optional(),
    dryRun: z.boolean().default(false).meta({ description: 'true: lists them in `matching` alone.' }),
  })
  .meta({ id: 'CancelTestRunsRequest' });
const ids = z.array(z.uuid());
const cancelAnswer = z
  .object({
    cancelled: ids.meta({
      description: 'The test runs that are being cancelled, with the runs of their cases.',
    }),
    matching: ids.optional().meta({ description: 'With `dryRun`: all that would be cancelled.' }),
    hasMore: z.boolean().meta({ description: 'Whether to repeat the request.' }),
  })
  .meta({ id: 'CancelledTestRuns' });

export function cancelTestRunsRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'post',
      path: `${OPERATOR_PATH}/test-runs/cancel`,
      operation: {
        ...operatorOperation,
        operationId: 'cancelTestRuns',
        summary: 'Cancel the unfinished test runs of all organizations that a filter finds',
        description: `Cancels up to ${CANCELLED_MAX} of them, the oldest first; organization, project and flow are slugs.`,
        requestBody: body(cancelRequest, { organization: testRunFilter }),
        responses: {
          200: answer('They are being cancelled.', cancelAnswer, { cancelled: cancelledTestRuns }),
          ...OPERATOR_ERRORS,
          ...BODY_ERRORS,
        },
      },
      handlers: [...identifyOperator(deps), refuseQuery, readBody(deps, cancelRequest), cancelMatching(deps)],
    },
  ];
}

function cancelMatching(deps: ApiDeps): ApiMiddleware {
  const { db } = deps;
  return async function cancelMatching(ctx) {
    const { dryRun, ...filter } = ctx.state.body as z.output<typeof cancelRequest>;
    const found = await listCancellableTestRuns(db, filter);
    if (dryRun) {
      ctx.body = { cancelled: [], matching: found.map(({ id }) => id), hasMore: false };
      return;
    }
    const author = authorOf(ctx.state.principal, ctx.state.requestId);
    const cancelled: string[] = [];
    for (const testRun of found.slice(0, CANCELLED_MAX)) {
      if (!(await inTransaction(db, (tx) => markTestRunCancelled(tx, author, testRun)))) continue;
      cancelled.push(testRun.id);
      await cancelWorkflows(deps, testRun.id);
    }
    ctx.body = { cancelled, hasMore: found.length > CANCELLED_MAX };
  };
}
