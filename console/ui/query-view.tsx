import type { ReactNode } from 'react';
import { ErrorNote } from './error-note.tsx';
import { Loading } from './loading.tsx';

/** Shows the result of a query: while it is fetched, when it failed (with a way to try again), and once it is there. */
export function QueryView<Data>({
  query,
  children,
}: {
  /** Its errors are ApiErrors, whatever the types of the interface say. */
  query: { data: Data | undefined; error: unknown; refetch: () => unknown };
  children: (data: Data) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ErrorNote error={query.error as Error} onRetry={() => query.refetch()} />;
  return <Loading />;
}
