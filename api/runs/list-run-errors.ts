// GET …/projects/{project_id}/runs/errors: the failed runs of a project, grouped by what went wrong.
import { z } from 'zod';
import { type ErrorGroup, listErrorGroups } from '../../db/runs/error-groups.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { loadProject } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { pageLimit } from '../http/page.ts';
import { readQuery } from '../http/query.ts';
import { PROJECT_ERRORS, PROJECTS_PATH } from '../reference/management-operations.ts';
import { answer, VALIDATION_ERRORS } from '../reference/operations.ts';
import { runErrors } from '../reference/run-examples.ts';
import { countedRunsQuery } from './run-list-query.ts';
import { runState } from './run-shapes/answers.ts';
import { describeRunError } from './run-shapes/describe-run.ts';

const runErrorsQuery = countedRunsQuery.extend({ limit: pageLimit });

const { executionId, code, step_id, errorMessage } = runState.shape;
const runErrorGroup = z
  .object({
    error_group: z.string().meta({
      description:
        'Send it as `error_group` to list or retry these runs. It stays the same, also for later failures.',
    }),
    flow: z.string(),
    code: code.unwrap(),
    step_id,
    block: z.string().optional().meta({ description: 'The name of the block that failed.' }),
    errorMessage: errorMessage.unwrap().meta({ description: 'The message of the newest run.' }),
    count: z.int(),
    firstSeen: z.iso.datetime().meta({ description: 'When the oldest run started.' }),
    lastSeen: z.iso.datetime().meta({ description: 'When the newest run started.' }),
    executionId: executionId.meta({ description: 'The newest run.' }),
  })
  .meta({ id: 'RunErrorGroup' });
export type RunErrorGroup = z.output<typeof runErrorGroup>;
const runErrorList = z
  .object({ errors: z.array(runErrorGroup), hasMore: z.boolean() })
  .meta({ id: 'RunErrors' });

/** Describes the endpoint that groups failed runs. */
export function runErrorRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: `${PROJECTS_PATH}/:project_id/runs/errors`,
      operation: {
        operationId: 'listRunErrors',
        summary: 'Group the failed runs of a project by what went wrong, the most frequent first',
        description:
          'A group has the runs of a flow that failed with the same code, at the same step and with the same message, apart from numbers, ids and quoted texts. Cancelled runs are in none.',
        tags: ['Runs'],
        requestParams: { query: runErrorsQuery },
        responses: {
          200: answer('The groups.', runErrorList, { errors: runErrors }),
          ...PROJECT_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [
        ...identifyCaller(deps, 'run', 'read'),
        loadProject(deps, 'member'),
        readQuery(runErrorsQuery),
        listRunErrors(deps),
      ],
    },
  ];
}

function listRunErrors({ db }: ApiDeps): ApiMiddleware {
  return async function listRunErrors(ctx) {
    const { limit, ...filter } = ctx.state.query as z.output<typeof runErrorsQuery>;
    const projectId = ctx.state.project.id;
    const groups = await listErrorGroups(db, { ...filter, projectId, limit: limit + 1 });
    ctx.body = { errors: groups.slice(0, limit).map(describeGroup), hasMore: groups.length > limit };
  };
}

function describeGroup(group: ErrorGroup): z.input<typeof runErrorGroup> {
  const { code, step_id, errorMessage } = describeRunError(group.error);
  return {
    error_group: group.error_group,
    flow: group.flow,
    code,
    ...(step_id !== undefined && { step_id }),
    ...(group.block !== null && { block: group.block }),
    errorMessage,
    count: group.runs,
    firstSeen: group.first_started_at.toISOString(),
    lastSeen: group.last_started_at.toISOString(),
    executionId: group.execution_id,
  };
}
