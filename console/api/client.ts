// The client of the service, typed by the API document: `api` sends requests, `$api` makes queries of them.
import createFetchClient, { type Client } from 'openapi-fetch';
import createQueryClient from 'openapi-react-query';
import { type ApiError, toApiError, toCutOff } from './api-error.ts';
import { authorizedFetch } from './authorized-fetch.ts';
import type { components, paths } from './schema.d.ts';

/** The schemas of the API document by name, such as `Schemas['Flow']`. */
export type Schemas = components['schemas'];

const client = createFetchClient<paths>({
  baseUrl: location.origin,
  fetch: (request: Request) => authorizedFetch(request),
});
client.use({
  async onResponse({ response }) {
    if (!response.ok && response.status !== 304) throw await toApiError(response);
  },
});

/** Sends one request: `await api.GET('/api/v1/me')`. Throws an ApiError unless a success arrives complete. */
export const api = new Proxy(client, {
  get: (target, method: 'GET') => async (path: never, init: never) => {
    try {
      return await target[method](path, init);
    } catch (error) {
      throw toCutOff(error, method);
    }
  },
});

/** An operation whose error is an ApiError, which `api` throws, instead of a response body. */
type Throws<Operation> = Operation extends { responses: infer Responses }
  ? Omit<Operation, 'responses'> & {
      responses: {
        [Status in keyof Responses]: Status extends 200 | 201 | 202 | 204
          ? Responses[Status]
          : { headers: Record<string, unknown>; content: { 'application/json': ApiError } };
      };
    }
  : Operation;
type ThrowingPaths = { [Path in keyof paths]: { [Key in keyof paths[Path]]: Throws<paths[Path][Key]> } };

/** TanStack Query over `api`: `$api.useQuery('get', '/api/v1/me')`, `$api.queryOptions(…)`, `$api.useMutation(…)`. */
export const $api = createQueryClient(api as unknown as Client<ThrowingPaths>);
