import { MutationCache, notifyManager, QueryClient } from '@tanstack/react-query';
import { showToast } from '../ui/toast.tsx';
import { isOutage, isRepeatable } from './api-error.ts';
import { queryCache, refetchAfter } from './refetch-after.ts';
import type { paths } from './schema.d.ts';

const STALE_MS = 10_000;
const RETRIES_MAX = 3;

// A change is shown as pending before the next event of the browser: a timer, as the library has it, comes after the
// second press of a double click, which would do it twice.
notifyManager.setScheduler(queueMicrotask);

/** Changes whose form was closed before they were answered. */
const left = new WeakSet<object>();

/** Keeps what was fetched. A request that was refused is not repeated; one that met an outage is. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // The service may be this machine, which is reached without a network.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: STALE_MS,
      refetchInterval: (query) => refetchAfter(query),
      retry: (failures, error) => failures < RETRIES_MAX && isRepeatable(error),
    },
  },
  queryCache,
  // A change that fails is always said; a form that shows the error itself sets `meta: { quiet: true }`.
  mutationCache: new MutationCache({
    onError(error, _variables, _result, mutation) {
      if (!mutation.meta?.quiet || left.has(mutation))
        showToast({ tone: 'bad', title: error.message, error });
      // It may have been done: what the page shows is read again.
      if (isOutage(error)) void queryClient.invalidateQueries();
    },
  }),
});

queryClient.getMutationCache().subscribe((event) => {
  if (event.type === 'observerRemoved' && event.mutation.state.status === 'pending') left.add(event.mutation);
});

/** Fetches again what was read at these paths, whatever its parameters; to be called after a change. */
export async function refetch(...changed: (keyof paths)[]): Promise<void> {
  await Promise.all(changed.map((path) => queryClient.invalidateQueries({ queryKey: ['get', path] })));
}
