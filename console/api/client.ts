// The service as the console calls it, typed by the API document: `api` sends requests, `$api` makes queries of them.
import createFetchClient from 'openapi-fetch';
import createQueryClient from 'openapi-react-query';
import { toApiError } from './api-error.ts';
import { authorizedFetch } from './authorized-fetch.ts';
import type { components, paths } from './schema.d.ts';

/** A shape of the API document by its name, such as `Schemas['Flow']`. */
export type Schemas = components['schemas'];

/** Sends one request: `await api.GET('/api/v1/me')`. Throws an ApiError for every answer that is not a success. */
export const api = createFetchClient<paths>({ baseUrl: location.origin, fetch: authorizedFetch });
api.use({
  async onResponse({ response }) {
    if (!response.ok && response.status !== 304) throw await toApiError(response);
  },
});

/** TanStack Query over `api`: `$api.useQuery('get', '/api/v1/me')`, `$api.queryOptions(…)`, `$api.useMutation(…)`. */
export const $api = createQueryClient(api);
