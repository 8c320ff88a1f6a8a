// GET /models lists the models that blocks can name.
import { z } from 'zod';
import { organizationNotFound } from '../../db/tenants/organizations.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { authorizeOrganization } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import { listModels } from '../flows/list-models.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { answerWithETag, ifNoneMatch } from '../http/etag.ts';
import { pageOf, pageQuery, toPage } from '../http/page.ts';
import { readQuery } from '../http/query.ts';
import { modelPage } from '../reference/management-examples.ts';
import {
  COMMON_ERRORS,
  errorAnswer,
  examplesOf,
  pageWithETag,
  VALIDATION_ERRORS,
} from '../reference/operations.ts';

const price = z.number().min(0).meta({
  description: 'Credits per million tokens; 0 where the key is not the service’s.',
});
const prices = {
  inputPrice: price,
  cachedInputPrice: price,
  cacheWritePrice: price,
  cacheWriteHourPrice: price,
  outputPrice: price,
};
const modelRecord = z
  .object({
    model: z.string().meta({
      description: 'As blocks name it; `provider/*` stands for all other models of the provider.',
    }),
    key: z.enum(['service', 'organization']).nullable().meta({
      description: 'Whose key its calls use; null: they fail unless the request brings one.',
    }),
    ...prices,
    longContextPrices: z.array(z.object({ aboveTokens: z.int(), ...prices })).meta({
      description: 'The prices of all tokens of a request with a longer input.',
    }),
    imagePrice: z.number().min(0).meta({
      description: 'Credits for each image of a request, besides its tokens.',
    }),
    reportedCost: z.boolean().meta({
      description: 'Whether the cost that the provider reports is charged in place of the prices.',
    }),
    tiers: z.record(z.string(), z.number()).meta({
      description: 'Factors of the prices, by the service tier that an answer names.',
    }),
    contextTokens: z.int(),
    images: z.boolean(),
    tools: z.boolean(),
    jsonSchema: z.boolean(),
  })
  .meta({ id: 'Model' });
export const modelList = pageOf('ModelList', 'models', modelRecord);
const modelsQuery = pageQuery(z.string()).extend({
  organization_id: z.string().meta({ description: 'The organization whose calls the list is about.' }),
});

export function modelRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: '/api/v1/models',
      operation: {
        operationId: 'listModels',
        summary: 'List the models, what they cost and can do, by name',
        description: 'Ask again with the ETag: 304 while nothing has changed.',
        tags: ['Flows'],
        requestParams: { query: modelsQuery, header: ifNoneMatch },
        responses: {
          ...pageWithETag('A page of models.', modelList, { page: modelPage }),
          ...COMMON_ERRORS,
          404: errorAnswer(
            'The organization is unknown, or the caller does not belong to it.',
            examplesOf(organizationNotFound()),
          ),
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [
        ...identifyCaller(deps, 'read', 'deploy'),
        readQuery(modelsQuery),
        authorizeQueried(deps),
        listPage(deps),
      ],
    },
  ];
}

/** Authorizes the organization in the query like one in the path. */
function authorizeQueried(deps: ApiDeps): ApiMiddleware {
  const authorize = authorizeOrganization(deps, { role: 'member' });
  return async function authorizeQueried(ctx, next) {
    ctx.params.org_id = (ctx.state.query as z.infer<typeof modelsQuery>).organization_id;
    await authorize(ctx, next);
  };
}

function listPage(deps: ApiDeps): ApiMiddleware {
  return async function listPage(ctx) {
    const { limit, cursor = '' } = ctx.state.query as z.infer<typeof modelsQuery>;
    const models = await listModels(deps, ctx.state.membership.organizationId);
    const rest = models.filter(({ model }) => model > cursor);
    const { page, end } = toPage(rest, limit, ({ model }) => model);
    answerWithETag(ctx, { models: page, ...end });
  };
}
