import type { ReactNode } from 'react';
import { ErrorNote } from './error-note.tsx';
import { Loading } from './loading.tsx';

/**
 * Shows a query: loading, its error with a retry button, or its data. Data stays when fetching it again fails.
 * `MoreButton` shows the errors of further pages.
 */
export function QueryView<Data>({
  query,
  children,
}: {
  /** An ApiError, whatever the generated types say. */
  query: {
    data: Data | undefined;
    error: unknown;
    refetch: () => unknown;
    isFetchNextPageError?: boolean;
  };
  children: (data: Data) => ReactNode;
}) {
  const error =
    query.error && !query.isFetchNextPageError ? (
      <ErrorNote error={query.error as Error} onRetry={() => query.refetch()} />
    ) : undefined;
  if (query.data === undefined) return error ?? <Loading />;
  return (
    <>
      {error}
      {children(query.data)}
    </>
  );
}
