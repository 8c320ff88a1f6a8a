import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { EmptyState } from '../ui/empty-state.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { LinkButton } from '../ui/link-button.tsx';
import { Page } from '../ui/page.tsx';

/** How browsers, and Vite for styles, say that a file of the console did not come. */
const NOT_LOADED = /dynamically imported module|Importing a module script failed|Unable to preload CSS/;
const NOT_LOADED_TEXT =
  'A part of the console could not be loaded. Check that you are online, then try again.';

/** Stands for a page that failed. */
export function ProblemPage({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isNotLoaded = NOT_LOADED.test(String(error));
  return (
    <Page title="This page cannot be shown">
      {isNotLoaded ? (
        // What failed to load once is not asked for again before the page is.
        <ErrorNote error={new Error(NOT_LOADED_TEXT)} onRetry={() => location.reload()} />
      ) : (
        // Loads the page anew, and shows it: what it is about may not have come.
        <ErrorNote
          error={error instanceof Error ? error : new Error(String(error))}
          onRetry={() => void router.invalidate()}
        />
      )}
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
