// Notes, errors, empty lists and loading: what a page shows beside its data or in place of it.
import { CircleAlert, Info, LoaderCircle, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError } from '../api/api-error.ts';
import badge from './badge.module.css';
import { Button } from './button.tsx';
import { classes } from './classes.ts';
import { CopyButton } from './code-block.tsx';
import style from './note.module.css';
import page from './page.module.css';
import { ReturnFocus } from './use-return-focus.ts';

/** A query of a list that comes page by page. */
export type Paged = {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  /** An ApiError, whatever the generated types say. */
  error: unknown;
  fetchNextPage: () => unknown;
};

/** A note to the user. */
export function Note({ tone = 'idle', children }: { tone?: 'idle' | 'warn'; children: ReactNode }) {
  return (
    <div className={classes(style.note, tone === 'warn' && style.warn)}>
      {tone === 'warn' ? <TriangleAlert size={16} aria-hidden /> : <Info size={16} aria-hidden />}
      <div>{children}</div>
    </div>
  );
}

/** An error message with the request id of the service's log. */
export function ErrorNote({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div role="alert" className={classes(style.note, style.bad)}>
      <CircleAlert size={16} aria-hidden />
      <div>
        <p>{error.message}</p>
        {requestId && (
          <p className={style.faint}>
            Request <code>{requestId}</code> <CopyButton text={requestId} label="Copy the request id" />
          </p>
        )}
      </div>
      {onRetry && (
        <Button size="small" onPress={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** An empty list: says what to do about it. The children are buttons. */
export function EmptyState({
  title,
  text,
  children,
}: {
  title: string;
  text: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className={style.empty}>
      <h2>{title}</h2>
      <p>{text}</p>
      {children && <div className={style.emptyActions}>{children}</div>}
    </div>
  );
}

/** Shown while something is loading. */
export function Loading({ label = 'Loading …' }: { label?: string }) {
  return (
    <div role="status" className={style.loading}>
      <LoaderCircle size={16} className={badge.spin} aria-hidden /> {label}
    </div>
  );
}

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

/** Loads the next page of a list, and shows the error when that fails; nothing on the last page. */
export function MoreButton({ query }: { query: Paged }) {
  if (!query.hasNextPage) return null;
  return (
    <div className={page.more}>
      <ReturnFocus to="main" />
      {query.isFetchNextPageError && !query.isFetchingNextPage && <ErrorNote error={query.error as Error} />}
      <Button isPending={query.isFetchingNextPage} onPress={() => query.fetchNextPage()}>
        {query.isFetchingNextPage ? 'Loading …' : 'Show more'}
      </Button>
    </div>
  );
}
