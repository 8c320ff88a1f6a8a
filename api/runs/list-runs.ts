// GET …/runs of a flow, of a project and of an organization: lists of runs.
import { identifyCaller } from '../auth/identify-caller.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { answerWithETag, ifNoneMatch } from '../http/etag.ts';
import { readQuery } from '../http/query.ts';
import { FLOW_PATH, pageWithETag, VALIDATION_ERRORS } from '../reference/operations.ts';
import { runPage } from '../reference/run-examples.ts';
import { loadFlowIds } from './calls/load-flow.ts';
import { readRunPage } from './read-run-page.ts';
import { READ_ERRORS } from './run-errors.ts';
import { type RunListQuery, runListQuery } from './run-list-query.ts';
import { runList } from './run-shapes/answers.ts';
import { describeRun } from './run-shapes/describe-run.ts';
import { stuckField } from './run-shapes/stuck-field.ts';

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
        requestParams: { query: runListQuery, header: ifNoneMatch },
        responses: {
          ...pageWithETag('A page of runs.', runList, { page: runPage }),
          ...READ_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [
        ...identifyCaller(deps, 'run', 'read'),
        loadFlowIds(deps),
        readQuery(runListQuery),
        listFlowRuns(deps),
      ],
    },
  ];
}

function listFlowRuns(deps: ApiDeps): ApiMiddleware {
  return async function listFlowRuns(ctx) {
    const { flowId } = ctx.state.flowIds;
    const { runs, ...end } = await readRunPage(deps, { flowId }, ctx.state.query as RunListQuery);
    const described = runs.map(async (run) => ({
      ...(await describeRun(deps, run)),
      ...stuckField(run.stuck),
    }));
    answerWithETag(ctx, { runs: await Promise.all(described), ...end });
  };
}
