// The endpoints of test runs: run cases on the draft, list and read test runs, cancel one.
import { UUID_PATTERN } from '../../flow/limits.ts';
import { toCaller } from '../auth/caller.ts';
import { identifyCaller } from '../auth/identify-caller.ts';
import { notVisible } from '../auth/require-visible-flow.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { answer, COMMON_ERRORS, errorAnswer } from '../reference/operations.ts';
import { cancelledTestRun, stoppingTestRun } from '../reference/test-run-examples.ts';
import { cancelTestRun } from './cancel-test-run.ts';
import { testRun } from './describe-test-run.ts';

export const testRunRecord = testRun.meta({ id: 'TestRun' });

export function testRunRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'post',
      path: '/api/v1/test-runs/:test_run_id/cancel',
      operation: {
        operationId: 'cancelTestRun',
        summary: 'Cancel a test run',
        description:
          'Cancels the runs of its cases; no further case begins, and nothing more is charged. This also works for a flow that was never published. You can repeat the request. The request body is ignored.',
        tags: ['Tests'],
        responses: {
          200: answer('The test run had already ended, and stays as it is.', testRunRecord, {
            ended: cancelledTestRun,
          }),
          202: answer('The test run as it stands; it ends within seconds.', testRunRecord, {
            stopping: stoppingTestRun,
          }),
          ...COMMON_ERRORS,
          404: errorAnswer('There is no such test run, or it belongs to a project that you cannot access.', {
            NOT_FOUND: 'There is no such test run among those you may see.',
          }),
        },
      },
      handlers: [...identifyCaller(deps, 'run', 'deploy'), cancel(deps)],
    },
  ];
}

function cancel(deps: ApiDeps): ApiMiddleware {
  return async function cancel(ctx) {
    const { test_run_id: id = '' } = ctx.params;
    if (!UUID_PATTERN.test(id)) throw notVisible('test run');
    const { had, testRun } = await cancelTestRun(deps, toCaller(ctx.state), id);
    ctx.status = had === 'ended' ? 200 : 202;
    ctx.body = testRun;
  };
}
