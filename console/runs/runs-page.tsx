import { getRouteApi, useParams } from '@tanstack/react-router';
import { ArrowUp } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { $api } from '../api/client.ts';
import { hasRole, useProject, useUserName } from '../shell/me.ts';
import { useKeyNames } from '../shell/use-actor-name.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { EmptyState, ErrorNote, Loading } from '../ui/feedback.tsx';
import { formatCount } from '../ui/format.ts';
import { Page } from '../ui/page.tsx';
import { ReturnFocus } from '../ui/use-return-focus.ts';
import { BulkActions } from './list/bulk-actions.tsx';
import { ErrorGroups } from './list/error-groups.tsx';
import { FilterBar } from './list/filter-bar.tsx';
import { HourChart } from './list/hour-chart.tsx';
import { RunTable } from './list/run-table.tsx';
import { useRuns } from './list/use-runs.ts';
import style from './runs-page.module.css';
import { isFiltered, type RunFilter, uncountedFilters } from './search.ts';

const route = getRouteApi('/orgs/$org/projects/$project/runs');
const CHOICES_MAX = 200;

/** The runs of a project or organization, newest first and up to date. */
export function RunsPage() {
  const found = useProject(route.useParams());
  const { organization, project } = found;
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const runs = useRuns({ organizationId: organization.id, projectId: project.id }, filter);
  const path = { project_id: project.id };
  const flows = $api.useQuery('get', '/api/v1/projects/{project_id}/flows', {
    params: { path, query: { limit: CHOICES_MAX } },
  });
  const maySeeKeys = hasRole(organization, 'admin');
  const keys = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/api-keys',
    { params: { path } },
    { enabled: maySeeKeys },
  );
  const nameOfUser = useUserName(organization.id);
  const keyNames = useKeyNames(found);
  const searchField = useSlashKey();
  const uncounted = uncountedFilters(filter);
  const { list, rows, fresh } = runs;
  function change(next: RunFilter) {
    // Choosing the same filter again does not change the address.
    if (JSON.stringify(next) === JSON.stringify(filter)) runs.restartRange();
    else void navigate({ search: next, replace: true });
  }

  return (
    <Page
      title="Runs"
      isFull
      actions={
        <>
          <LinkButton to="/orgs/$org/projects/$project/bulk-retries" params={route.useParams()}>
            Bulk retries
          </LinkButton>
          <BulkActions
            projectId={project.id}
            filter={runs.fixedFilter}
            production={flows.data?.flows.find(({ slug }) => slug === filter.flow)?.productionVersion}
            onDone={() => void list.refetch()}
          />
        </>
      }
    >
      <div className={style.page}>
        <FilterBar
          filter={filter}
          rangeFrom={runs.rangeFrom}
          onChange={change}
          searchField={searchField}
          choices={{
            flows: flows.data?.flows ?? [],
            hasMoreFlows: flows.data?.hasMore ?? false,
            keys: maySeeKeys ? (keys.data?.apiKeys ?? []) : undefined,
            projects: organization.projects,
          }}
        />
        {!filter.scope && !filter.bulk_id && filter.version !== 0 && (
          <>
            <HourChart
              projectId={project.id}
              filter={runs.fixedFilter}
              onPick={(times) => change(withTimes(filter, times))}
            />
            {uncounted.length > 0 && (
              <p className={style.note}>
                The chart and the errors also count runs that the filter by {uncounted.join(' and ')} leaves
                out.
              </p>
            )}
            <ErrorGroups
              projectId={project.id}
              filter={runs.fixedFilter}
              flows={flows.data?.flows ?? []}
              onShow={(errorGroup) => change(withErrorGroup(filter, errorGroup))}
              onDone={() => void list.refetch()}
            />
          </>
        )}
        {runs.staleBecause && list.data && <ErrorNote error={runs.staleBecause} />}
        {list.error && !list.data ? (
          <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
        ) : list.isPending || (list.isPlaceholderData && rows.length === 0) ? (
          <Loading label="Loading runs …" />
        ) : rows.length === 0 && !list.hasNextPage ? (
          <NoRuns filter={filter} onClear={() => change(filter.scope ? { scope: filter.scope } : {})} />
        ) : (
          <div className={style.list}>
            {fresh.length > 0 && (
              <div className={style.fresh} role="status">
                <ReturnFocus />
                <Button size="small" variant="primary" onPress={() => void runs.showFresh()}>
                  <ArrowUp size={13} aria-hidden />
                  {runs.hasGap ? `${formatCount(fresh.length)}+` : formatCount(fresh.length)} new{' '}
                  {fresh.length === 1 ? 'run' : 'runs'}
                </Button>
              </div>
            )}
            <RunTable rows={rows} keyNames={keyNames} nameOfUser={nameOfUser} filter={filter} list={list} />
          </div>
        )}
      </div>
    </Page>
  );
}

function withTimes(
  { range: _, since: _since, until: _until, ...filter }: RunFilter,
  times: { since: string; until: string } | undefined,
): RunFilter {
  return { ...filter, ...times };
}

function withErrorGroup({ error_group: _, ...filter }: RunFilter, errorGroup: string | undefined): RunFilter {
  return errorGroup === undefined ? filter : { ...filter, error_group: errorGroup };
}

/** Returns a ref to the field that `/` focuses, unless the user is typing elsewhere. */
function useSlashKey() {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    function focus(event: KeyboardEvent) {
      const target = event.target as HTMLElement;
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (target.closest('input, textarea, [contenteditable]')) return;
      event.preventDefault();
      field.current?.focus();
    }
    document.addEventListener('keydown', focus);
    return () => document.removeEventListener('keydown', focus);
  }, []);
  return field;
}

/** The empty list: nothing has run yet, or nothing matches the filter. */
function NoRuns({ filter, onClear }: { filter: RunFilter; onClear: () => void }) {
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
