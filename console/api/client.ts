import { MutationCache, notifyManager, QueryClient } from '@tanstack/react-query';
import createFetchClient, { type Client } from 'openapi-fetch';
import createQueryClient from 'openapi-react-query';
import { showToast } from '../ui/toast.tsx';
import { type ApiError, isOutage, isRepeatable, toApiError, toCutOff } from './api-error.ts';
import { authorizedFetch } from './authorized-fetch.ts';
import { queryCache, refetchAfter } from './query-options.ts';
import type { components, paths } from './schema.d.ts';

// The client of the service, typed by the API document: `api` sends requests, `$api` makes queries of them.

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

const STALE_MS = 10_000;
const RETRIES_MAX = 3;

// A mutation must be pending before the browser's next event. With the library's default, a timer, a double click would
// start it twice.
notifyManager.setScheduler(queueMicrotask);

/** Mutations whose form was closed before the response came. */
const closedEarly = new WeakSet<object>();

/** Caches what was fetched. Refused requests are not repeated; requests that met an outage are. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // The service may run on this machine, which needs no network.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: STALE_MS,
      refetchInterval: (query) => refetchAfter(query),
      retry: (failures, error) => failures < RETRIES_MAX && isRepeatable(error),
    },
  },
  queryCache,
  // Every failed mutation is reported; a form that shows the error itself sets `meta: { quiet: true }`.
  mutationCache: new MutationCache({
    onError(error, _variables, _result, mutation) {
      if (!mutation.meta?.quiet || closedEarly.has(mutation))
        showToast({ tone: 'bad', title: error.message, error });
      // The change may have been made, so everything on the page is read again.
      if (isOutage(error)) void queryClient.invalidateQueries();
    },
  }),
});

queryClient.getMutationCache().subscribe((event) => {
  if (event.type === 'observerRemoved' && event.mutation.state.status === 'pending')
    closedEarly.add(event.mutation);
});

/** Fetches the queries of these paths again, whatever their parameters. Call it after a change. */
export async function refetch(...changed: (keyof paths)[]): Promise<void> {
  await Promise.all(changed.map((path) => queryClient.invalidateQueries({ queryKey: ['get', path] })));
}
