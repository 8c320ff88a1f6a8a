import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorNote } from './error-note.tsx';
import { Loading } from './loading.tsx';

/** Shows the result of a query: while it is fetched, when it failed (with a way to try again), and once it is there. */
export function QueryView<Data>({
  query,
  children,
}: {
  query: UseQueryResult<Data, Error>;
  children: (data: Data) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ErrorNote error={query.error} onRetry={() => query.refetch()} />;
  return <Loading />;
}
