import { useParams } from '@tanstack/react-router';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { ReturnFocus } from '../../ui/use-return-focus.ts';
import { isFiltered, type RunFilter } from './run-filter.ts';

/** The empty list: nothing has run yet, or nothing matches the filter. */
export function NoRuns({ filter, onClear }: { filter: RunFilter; onClear: () => void }) {
  const { org = '', project = '' } = useParams({ strict: false });
  if (isFiltered(filter))
    return (
      <EmptyState title="No run matches these filters" text="New runs that match appear here automatically.">
        <ReturnFocus />
        <Button onPress={onClear}>Clear the filters</Button>
      </EmptyState>
    );
  return (
    <EmptyState
      title="Nothing has run yet"
      text="A run is one execution of a flow. Open a flow and try it, or call it with an API key: its runs appear here."
    >
      <LinkButton to="/orgs/$org/projects/$project" params={{ org, project }} variant="primary">
        To the flows
      </LinkButton>
    </EmptyState>
  );
}
