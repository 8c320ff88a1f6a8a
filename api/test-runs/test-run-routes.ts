// POST …/test-runs/{test_run_id}/cancel: stops the tests of a flow and what they spend.
import { UUID_PATTERN } from '../../flow/limits.ts';
import { authenticate } from '../auth/authenticate.ts';
import { limitRate } from '../auth/limit-rate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { answer, COMMON_ERRORS, refusal } from '../reference/operations.ts';
import { cancelledTestRun, stoppingTestRun } from '../reference/test-run-examples.ts';
import { toCaller } from './caller.ts';
import { cancelTestRun } from './cancel-test-run.ts';
import { testRun } from './describe-test-run.ts';
import { notVisible } from './require-visible-flow.ts';

const record = testRun.meta({ id: 'TestRun' });

/** Cancels test runs. */
export function testRunRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'post',
      path: '/api/v1/test-runs/:test_run_id/cancel',
      operation: {
        operationId: 'cancelTestRun',
        summary: 'Stop a test run',
        description:
          'Cancels the runs of its cases, also of a flow that was never published; cases that were not begun are not begun. Nothing more is charged for it. May be repeated. The request body is ignored.',
        tags: ['Tests'],
        responses: {
          200: answer('It had ended already and is left as it is.', record, { ended: cancelledTestRun }),
          202: answer('As it stands; it ends within seconds.', record, { stopping: stoppingTestRun }),
          ...COMMON_ERRORS,
          404: refusal('Unknown, or of a project that the caller cannot reach.', {
            NOT_FOUND: 'There is no such test run among those you may see.',
          }),
        },
      },
      handlers: [authenticate(deps), limitRate(deps), cancel(deps)],
    },
  ];
}

function cancel(deps: ApiDeps): ApiMiddleware {
  return async function cancel(ctx) {
    const { principal, requestId } = ctx.state;
    const { test_run_id: id = '' } = ctx.params;
    if (!UUID_PATTERN.test(id)) throw notVisible('test run');
    const { had, testRun } = await cancelTestRun(deps, toCaller(principal, requestId), id);
    ctx.status = had === 'ended' ? 200 : 202;
    ctx.body = testRun;
  };
}
