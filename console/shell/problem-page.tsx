import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { LinkButton } from '../ui/button.tsx';
import { EmptyState, ErrorNote } from '../ui/feedback.tsx';
import { Page } from '../ui/page.tsx';

/** The messages of browsers, and of Vite for styles, for a file of the console that could not be loaded. */
const NOT_LOADED = /dynamically imported module|Importing a module script failed|Unable to preload CSS/;
const NOT_LOADED_TEXT =
  'A part of the console could not be loaded. Check that you are online, then try again.';

/** Replaces a page that failed. */
export function ProblemPage({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isNotLoaded = NOT_LOADED.test(String(error));
  return (
    <Page title="This page cannot be shown">
      {isNotLoaded ? (
        // The browser does not load a failed module again until the page is reloaded.
        <ErrorNote error={new Error(NOT_LOADED_TEXT)} onRetry={() => location.reload()} />
      ) : (
        // Runs the page's loaders again, then shows the page.
        <ErrorNote
          error={error instanceof Error ? error : new Error(String(error))}
          onRetry={() => void router.invalidate()}
        />
      )}
    </Page>
  );
}

/** Replaces a page that does not exist or that the user cannot reach. */
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
