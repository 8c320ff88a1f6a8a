import type { ReactNode } from 'react';
import { ErrorNote } from './error-note.tsx';
import { Loading } from './loading.tsx';

/**
 * Shows the result of a query: while it is fetched, when it failed (with a way to try again), and once it is there. What was
 * fetched before stays when fetching it again fails. `MoreButton` says that a further page of a list could not be fetched.
 */
export function QueryView<Data>({
  query,
  children,
}: {
  /** Its errors are ApiErrors, whatever the types of the interface say. */
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
