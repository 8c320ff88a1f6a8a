// GET …/projects/{project_id}/runs/hours: how many runs started in each hour, by how they ended.
import { z } from 'zod';
import { countRunsByHour } from '../../db/runs/error-groups.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { loadProject } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { readQuery } from '../http/query.ts';
import { invalidField } from '../http/request-errors.ts';
import { PROJECT_ERRORS, PROJECTS_PATH } from '../reference/management-operations.ts';
import { answer, VALIDATION_ERRORS } from '../reference/operations.ts';
import { runHours } from '../reference/run-examples.ts';
import { countedRunsQuery } from './run-list-query.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The longest time whose hours one request counts. */
export const HOURS_MAX_DAYS = 31;

const count = z.int();
const runHourList = z
  .object({
    since: z.iso.datetime(),
    until: z.iso.datetime(),
    hours: z
      .array(
        z.object({
          hour: z.iso.datetime().meta({ description: 'The beginning of the hour, in UTC.' }),
          completed: count,
          failed: count,
          cancelled: count,
          refused: count,
          open: count.meta({ description: 'Runs that have not ended.' }),
        }),
      )
      .meta({ description: 'Hours without runs are left out.' }),
  })
  .meta({ id: 'RunHours' });

/** Describes the endpoint that counts runs by hour. */
export function runHourRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: `${PROJECTS_PATH}/:project_id/runs/hours`,
      operation: {
        operationId: 'countRunsByHour',
        summary: 'Count the runs of a project by the hour in which they started',
        description: `Of the last 24 hours, unless \`since\` and \`until\` say otherwise: ${HOURS_MAX_DAYS} days at most.`,
        tags: ['Runs'],
        requestParams: { query: countedRunsQuery },
        responses: {
          200: answer('The hours, in order.', runHourList, { hours: runHours }),
          ...PROJECT_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [
        ...identifyCaller(deps, 'run', 'read'),
        loadProject(deps, 'member'),
        readQuery(countedRunsQuery),
        countHours(deps),
      ],
    },
  ];
}

function countHours({ db }: ApiDeps): ApiMiddleware {
  return async function countHours(ctx) {
    const query = ctx.state.query as z.output<typeof countedRunsQuery>;
    const until = query.until ?? new Date();
    const since = query.since ?? new Date(until.getTime() - DAY_MS);
    if (until.getTime() - since.getTime() > HOURS_MAX_DAYS * DAY_MS)
      throw invalidField('since', `must be at most ${HOURS_MAX_DAYS} days before until`);
    const projectId = ctx.state.project.id;
    const hours = await countRunsByHour(db, { ...query, projectId, since, until });
    ctx.body = { since, until, hours };
  };
}
