import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { $api, type Schemas } from '../api/client.ts';
import { PAGES, refreshPages } from '../api/pages.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Loading } from '../ui/loading.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { Panel } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { TextField } from '../ui/text-field.tsx';
import { useDebouncedText } from '../ui/use-typed-text.ts';
import { FlowsTable } from './flows-table.tsx';
import style from './project-page.module.css';
import { SEARCH_MAX_LENGTH } from './search.ts';

const route = getRouteApi('/orgs/$org/projects/$project/');
const SEARCH_FROM = 8;

/** Queries the flows of a project whose name or slug contains a text, page by page; all flows without a text. */
export function useFlows(project_id: string, search = '') {
  return $api.useInfiniteQuery(
    'get',
    '/api/v1/projects/{project_id}/flows',
    { params: { path: { project_id }, query: { limit: 50, ...(search !== '' && { search }) } } },
    {
      ...PAGES,
      refetchInterval: refreshPages,
      // Shows the results of an earlier text, but never those of another project.
      ...(search !== '' && { placeholderData: keepPreviousData }),
    },
  );
}

/** The flows of a project, with a search field when there are many. */
export function FlowsPanel({
  projectId,
  slugs,
}: {
  projectId: string;
  slugs: { org: string; project: string };
}) {
  const { search = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const typed = useDebouncedText(search, trim, (text) => {
    void navigate({ search: { search: text || undefined }, replace: true, resetScroll: false });
  });
  const text = trim(typed.text);
  const asked = text && search;
  const flows = useFlows(projectId, asked);
  const isAnswered = asked === text && flows.data !== undefined && !flows.isPlaceholderData;
  const fetched = flows.data?.pages.flatMap((page) => page.flows) ?? [];
  // Until the response comes, the loaded flows are searched.
  const found = isAnswered ? fetched : fetched.filter((flow) => has(flow, text));
  return (
    <Panel
      title="Flows"
      isFlush
      actions={
        (text !== '' || fetched.length > SEARCH_FROM) && (
          <div className={style.search}>
            <TextField
              label="Find a flow"
              hideLabel
              placeholder="Find a flow"
              type="search"
              maxLength={SEARCH_MAX_LENGTH}
              value={typed.text}
              onChange={typed.setText}
              onBlur={typed.flush}
            />
          </div>
        )
      }
    >
      <QueryView query={flows}>
        {() =>
          found.length > 0 ? (
            <FlowsTable flows={found} slugs={slugs} />
          ) : isAnswered ? (
            <EmptyState title="No such flow" text={`No flow has “${text}” in its name or slug.`} />
          ) : (
            <Loading />
          )
        }
      </QueryView>
      {isAnswered && <MoreButton query={flows} />}
      <p className="visually-hidden" role="status">
        {text !== '' && isAnswered && `${found.length}${flows.hasNextPage ? ' or more' : ''} found`}
      </p>
    </Panel>
  );
}

function trim(text: string): string {
  return text.trim();
}

function has({ name, slug }: Schemas['Flow'], text: string): boolean {
  return `${name} ${slug}`.toLowerCase().includes(text.toLowerCase());
}
