// The filters of run lists and of requests about many runs.
import { z } from 'zod';
import { RUN_ORDERS } from '../../db/runs/select-run-page.ts';
import { SLUG_PATTERN, VERSION_MAX } from '../../flow/limits.ts';
import { KEY_ID_PATTERN } from '../auth/api-key.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { problem, validationError } from '../http/json-body.ts';
import { moment } from '../http/moment.ts';
import { pageLimit } from '../http/page.ts';
import { queryBoolean, queryNumber } from '../http/query-fields.ts';
import { errorGroupFilter, idFilter, keyFilter, minCostFilter, searchFilter } from './run-filters.ts';
import { executionId, runState } from './run-shapes/answers.ts';

/** Maximum number of runs in one such request. */
export const BULK_MAX = 100;

/** The fields of such a request. */
export const bulkFilter = z.strictObject({
  flow: z.string().regex(SLUG_PATTERN, 'must be a slug').optional(),
  version: z.int().min(1).max(VERSION_MAX).optional(),
  mode: runState.shape.mode.optional(),
  environment: runState.shape.environment.optional(),
  key: z.string().regex(KEY_ID_PATTERN, 'must be the key_id of an API key').optional(),
  since: moment.optional(),
  until: moment.optional(),
  dryRun: z
    .boolean()
    .default(false)
    .meta({ description: 'true: lists the runs in `matching` without changing them.' }),
  limit: z.int().min(1).max(BULK_MAX).default(BULK_MAX),
  cursor: z.uuid('must be a nextCursor of this list').optional(),
});

/** The fields of every such answer. */
export const bulkAnswer = z.object({
  matching: z
    .array(executionId)
    .optional()
    .meta({ description: 'With `dryRun`: the runs that the request would change.' }),
  hasMore: z.boolean(),
  nextCursor: z.string().nullable().meta({ description: 'Send it as `cursor` to get the next page.' }),
});

/** Rejects a filter in the query string: ignoring it would apply the request to all runs. */
export const refuseQuery: ApiMiddleware = async function refuseQuery(ctx, next) {
  const [parameter] = Object.keys(ctx.query);
  if (parameter === undefined) return next();
  const message =
    'is not read from the address: send the filter as JSON in the body, such as {"flow": "hello"}';
  throw validationError(problem([parameter], message));
};

const { status, outcome, mode, environment } = runState.shape;
const slug = z.string().regex(SLUG_PATTERN, 'must be a slug').optional();

/** The query of a list of a flow's runs. */
export const runListQuery = z.strictObject({
  status: status.optional(),
  outcome,
  mode: mode.optional(),
  environment: environment.optional(),
  version: queryNumber(0, VERSION_MAX).optional().meta({ description: '0: runs of drafts.' }),
  key: keyFilter,
  since: moment.optional().meta({ description: 'Only runs that started at this time or later.' }),
  until: moment.optional().meta({ description: 'Only runs that started before this time.' }),
  minCost: minCostFilter,
  id: idFilter,
  bulk_id: z
    .uuid('must be the bulk_id of a bulk retry')
    .optional()
    .meta({ description: 'Only runs that this bulk retry started.' }),
  error_group: errorGroupFilter,
  search: searchFilter,
  stuck: queryBoolean(
    false,
    'true: only runs that make no progress, each with the reason in `stuck`. Of the 5,000 under way that started first.',
  ),
  order: z.enum(RUN_ORDERS).default('newest').meta({ description: 'Which runs come first, by start.' }),
  limit: pageLimit.meta({
    description: 'A page ends once its runs have 20,000 block executions, also while `hasMore` is true.',
  }),
  cursor: z
    .uuid('must be a nextCursor of this list')
    .optional()
    .meta({ description: 'The nextCursor of the previous page.' }),
});
export const projectRunListQuery = runListQuery.extend({
  flow: slug.meta({ description: 'Only runs of the flow with this slug.' }),
});
export const organizationRunListQuery = projectRunListQuery.extend({
  project: slug.meta({ description: 'Only runs of the project with this slug.' }),
});
export const operatorRunListQuery = organizationRunListQuery
  .omit({ stuck: true })
  .extend({ organization: slug.meta({ description: 'Only runs of the organization with this slug.' }) });
export type RunListQuery = Omit<z.infer<typeof organizationRunListQuery>, 'stuck'> & { stuck?: boolean };

/** The query of what is counted above a list of runs. */
export const countedRunsQuery = projectRunListQuery
  .pick({
    flow: true,
    mode: true,
    environment: true,
    key: true,
    outcome: true,
    error_group: true,
    since: true,
    until: true,
  })
  .extend({ version: queryNumber(1, VERSION_MAX).optional() });
