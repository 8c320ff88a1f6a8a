import { MutationCache, notifyManager, QueryClient } from '@tanstack/react-query';
import { showToast } from '../ui/toast.tsx';
import { isOutage, isRepeatable } from './api-error.ts';
import { queryCache, refetchAfter } from './refetch-after.ts';
import type { paths } from './schema.d.ts';

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
