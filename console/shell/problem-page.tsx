import type { ErrorComponentProps } from '@tanstack/react-router';
import { EmptyState } from '../ui/empty-state.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { LinkButton } from '../ui/link-button.tsx';
import { Page } from '../ui/page.tsx';

/** Stands for a page that failed. */
export function ProblemPage({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="This page cannot be shown">
      <ErrorNote error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />
    </Page>
  );
}

/** Stands for an address that leads nowhere, or to what the user cannot reach. */
export function NotFoundPage() {
  return (
    <Page title="Not found">
      <EmptyState
        title="There is nothing here"
        text="It was deleted, or you cannot reach it with this account."
      >
        <LinkButton to="/" variant="primary">
          To your project
        </LinkButton>
      </EmptyState>
    </Page>
  );
}
