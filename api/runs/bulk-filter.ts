import { z } from 'zod';
import { SLUG_PATTERN, VERSION_MAX } from '../../flow/limits.ts';
import { KEY_ID_PATTERN } from '../auth/api-key.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { problem, validationError } from '../http/json-body.ts';
import { moment } from '../http/query.ts';
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
    .meta({ description: 'true: only says in `matching` which runs these are.' }),
  limit: z.int().min(1).max(BULK_MAX).default(BULK_MAX),
  cursor: z.uuid('must be a nextCursor of this list').optional(),
});

/** The fields of every such answer. */
export const bulkAnswer = z.object({
  matching: z
    .array(executionId)
    .optional()
    .meta({ description: 'With `dryRun`: the runs that the request would be carried out for.' }),
  hasMore: z.boolean(),
  nextCursor: z.string().nullable().meta({ description: 'Send it as `cursor` to go on.' }),
});

/** Rejects a filter in the query string: ignoring it would apply the request to all runs. */
export const refuseQuery: ApiMiddleware = async function refuseQuery(ctx, next) {
  const [parameter] = Object.keys(ctx.query);
  if (parameter === undefined) return next();
  const message =
    'is not read from the address: send the filter as JSON in the body, such as {"flow": "hello"}';
  throw validationError(problem([parameter], message));
};
