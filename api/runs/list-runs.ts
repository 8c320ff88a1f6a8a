// GET …/runs: the runs of a flow.
import { z } from 'zod';
import { listRuns } from '../../db/runs/list-runs.ts';
import { findRun } from '../../db/runs/runs.ts';
import { ServiceError } from '../../flow/errors.ts';
import { authenticate } from '../auth/authenticate.ts';
import { limitRate } from '../auth/limit-rate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { moment, pageSize, queryNumber, readQuery } from '../http/query.ts';
import { answer, FLOW_PATH, VALIDATION_ERRORS } from '../reference/operations.ts';
import { runPage } from '../reference/run-examples.ts';
import { runList, runState } from './answers.ts';
import { describeRun } from './describe-run.ts';
import { loadFlowIds } from './load-flow.ts';
import { READ_ERRORS } from './run-refusals.ts';

const LIMIT_MAX = 200;
const LIMIT_DEFAULT = 50;

const { status, mode, environment } = runState.shape;

const runQuery = z.strictObject({
  status: status.optional(),
  mode: mode.optional(),
  environment: environment.optional(),
  version: queryNumber(1, 2 ** 31 - 1).optional(),
  since: moment.optional().meta({ description: 'Only runs that started at this time or later.' }),
  until: moment.optional().meta({ description: 'Only runs that started before this time.' }),
  limit: pageSize(LIMIT_MAX, LIMIT_DEFAULT),
  cursor: z
    .uuid('must be a nextCursor of this list')
    .optional()
    .meta({ description: 'The nextCursor of the previous page.' }),
});

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
        requestParams: { query: runQuery },
        responses: {
          200: answer('A page of runs.', runList, { page: runPage }),
          ...READ_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [
        authenticate(deps),
        limitRate(deps),
        loadFlowIds(deps),
        readQuery(runQuery),
        listFlowRuns(deps),
      ],
    },
  ];
}

function listFlowRuns(deps: ApiDeps): ApiMiddleware {
  const { db } = deps;
  return async function listFlowRuns(ctx) {
    const { flowId } = ctx.state.flowIds;
    const { cursor, limit, ...filter } = ctx.state.query as z.infer<typeof runQuery>;
    if (cursor !== undefined && !(await findRun(db, flowId, cursor))) throw unknownCursor();
    const runs = await listRuns(db, { flowId, ...filter, after: cursor, limit: limit + 1 });
    const page = runs.slice(0, limit);
    const hasMore = runs.length > limit;
    ctx.body = {
      runs: await Promise.all(page.map((run) => describeRun(deps, run))),
      hasMore,
      nextCursor: hasMore ? page.at(-1)?.execution_id : null,
    };
  };
}

function unknownCursor(): ServiceError {
  const errors = [{ field: 'cursor', message: 'must be a nextCursor of this list' }];
  return new ServiceError('VALIDATION_ERROR', 'cursor: must be a nextCursor of this list', { errors });
}
