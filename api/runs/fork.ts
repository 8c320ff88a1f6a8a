// GET …/jobs/{executionId}/fork: a cursor with which a new /step session continues a stored run.
import { z } from 'zod';
import { isTestOfCase } from '../../db/test-runs/test-runs.ts';
import { ServiceError } from '../../flow/errors.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { readQuery } from '../http/query.ts';
import { reserveAnswer } from '../http/reserve-bytes.ts';
import { answer, errorAnswer, examplesOf, RUN_PATH, VALIDATION_ERRORS } from '../reference/operations.ts';
import { cursor } from '../reference/run-examples.ts';
import { forkCursor, notCompleted, tooLarge } from './calls/collect-outputs.ts';
import { loadFlowIds, loadRun } from './calls/load-flow.ts';
import { OUTPUT_ERROR_EXAMPLE, READ_ERRORS } from './run-errors.ts';
import { stepCursor } from './run-shapes/answers.ts';

const forkQuery = z.strictObject({
  step: z
    .string('is required: the index of a step')
    .regex(/^\d{1,6}$/, 'must be the index of a step')
    .transform(Number)
    .meta({ description: 'The 0-based index in the step plan. A parallel or loop step counts as one.' }),
});

/** Lists the endpoint that forks a stored run. */
export function forkRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: `${RUN_PATH}/fork`,
      operation: {
        operationId: 'forkJob',
        summary: 'Get the request that starts a new /step session at a step of a stored run',
        tags: ['Execution'],
        requestParams: { query: forkQuery },
        responses: {
          200: answer('The request that starts a /step session from there.', stepCursor, { cursor }),
          ...READ_ERRORS,
          409: errorAnswer(
            'The step before has not completed (`detail.step_id` names it, or the one before it that has not), its output is too far back in a session with large calls, or the run is that of a judge.',
            examplesOf(notCompleted('topics', 'topics has not completed')),
          ),
          413: errorAnswer('The output of the step before is larger than a request of /step may be.', {
            ...examplesOf(tooLarge('topics')),
            ...OUTPUT_ERROR_EXAMPLE,
          }),
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [
        ...identifyCaller(deps, 'run', 'read'),
        loadFlowIds(deps),
        loadRun(deps),
        readQuery(forkQuery),
        forkJob(deps),
      ],
    },
  ];
}

/** The error for the run of a judge, whose steps are not those of the flow. */
function judged(): ServiceError {
  return new ServiceError(
    'CONFLICT',
    'This run judged the answer of a test case: its steps are not those of the flow, so a session cannot go on with it.',
  );
}

function forkJob(deps: ApiDeps): ApiMiddleware {
  return async function forkJob(ctx) {
    const { flowIds, run } = ctx.state;
    const { step } = ctx.state.query as z.infer<typeof forkQuery>;
    if (run.mode === 'test' && !(await isTestOfCase(deps.db, run.execution_id))) throw judged();
    const { steps } = await deps.definitions.get(run.flow_version_id);
    ctx.body = await forkCursor(deps, run, steps, step, (bytes) =>
      reserveAnswer(deps, ctx, flowIds.organizationId, bytes),
    );
  };
}
