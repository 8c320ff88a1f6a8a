import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { $api, api, queryClient, refetch, type Schemas } from '../api/client.ts';
import { PAGES, refreshPages } from '../api/query-options.ts';
import { hasRole, useProject } from '../shell/me.ts';
import { Badge, StatusBadge } from '../ui/badge.tsx';
import { IconButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { EmptyState, Loading, MoreButton, QueryView } from '../ui/feedback.tsx';
import { TextField } from '../ui/fields/text-field.tsx';
import { useDebouncedText } from '../ui/fields/use-debounced-text.ts';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { Clipped, Panel, Table } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import style from './project-page.module.css';
import { SEARCH_MAX_LENGTH } from './search.ts';

type Flow = Schemas['Flow'];

const FLOW = '/orgs/$org/projects/$project/flows/$flow';

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

/** The table of flows: version in production, state of the draft, last run. */
function FlowsTable({ flows, slugs }: { flows: Flow[]; slugs: { org: string; project: string } }) {
  const { organization } = useProject(slugs);
  const navigate = useNavigate();
  const [toDelete, setToDelete] = useState<Flow>();
  return (
    <>
      <Table label="Flows" head={['Flow', 'Production', 'Draft', 'Last run', '']}>
        {flows.map((flow) => {
          const params = { ...slugs, flow: flow.slug };
          return (
            <tr key={flow.id}>
              <td>
                <Link to={FLOW} params={params} className={style.name}>
                  <Clipped text={flow.name} />
                </Link>
                <code className={style.slug}>
                  <Clipped text={flow.slug} />
                </code>
              </td>
              <td>
                {flow.productionVersion === null ? (
                  <Badge>{flow.latestVersion === null ? 'Not published' : 'None chosen'}</Badge>
                ) : (
                  <Link to={`${FLOW}/versions`} params={params}>
                    v{flow.productionVersion}
                  </Link>
                )}
              </td>
              <td>
                <DraftState flow={flow} />
              </td>
              <td>
                {flow.lastRun ? (
                  <Link
                    className={style.run}
                    to={`${FLOW}/runs/$executionId`}
                    params={{ ...params, executionId: flow.lastRun.executionId }}
                  >
                    <StatusBadge status={flow.lastRun.outcome ?? flow.lastRun.status} />{' '}
                    <Time at={flow.lastRun.startedAt} />
                  </Link>
                ) : (
                  <span className={style.faint}>Never run</span>
                )}
              </td>
              <td align="right">
                <Menu
                  label={`Actions of ${flow.name}`}
                  trigger={
                    <IconButton label={`Actions of ${flow.name}`} size="small">
                      <Ellipsis size={16} />
                    </IconButton>
                  }
                >
                  <MenuItem onAction={() => void navigate({ to: FLOW, params })}>Edit and try</MenuItem>
                  <MenuItem onAction={() => void navigate({ to: `${FLOW}/versions`, params })}>
                    Versions
                  </MenuItem>
                  <MenuItem onAction={() => void navigate({ to: `${FLOW}/tests`, params })}>
                    Test cases
                  </MenuItem>
                  <MenuItem onAction={() => void navigate({ to: `${FLOW}/call`, params })}>Call it</MenuItem>
                  <MenuItem
                    tone="danger"
                    isDisabled={!hasRole(organization, 'admin')}
                    onAction={() => setToDelete(flow)}
                  >
                    {hasRole(organization, 'admin') ? 'Delete …' : 'Delete (owners and admins)'}
                  </MenuItem>
                </Menu>
              </td>
            </tr>
          );
        })}
      </Table>
      {toDelete && (
        <ConfirmDialog
          title={`Delete ${toDelete.name}?`}
          action="Delete flow"
          isOpen
          onClose={() => setToDelete(undefined)}
          onConfirm={async () => {
            await api.DELETE('/api/v1/projects/{project_id}/flows/{flow_id}', {
              params: { path: { project_id: toDelete.projectId, flow_id: toDelete.id } },
            });
            queryClient.removeQueries({ queryKey: ['flow id', toDelete.projectId] });
            await refetch('/api/v1/projects/{project_id}/flows');
          }}
        >
          Calls of <code>{toDelete.slug}</code> will get 404. Its versions and test cases are deleted too.
        </ConfirmDialog>
      )}
    </>
  );
}

function DraftState({ flow }: { flow: Flow }) {
  if (flow.latestVersion === null) return <Badge tone="warn">Unpublished</Badge>;
  if (!flow.draftIsPublished) return <Badge tone="warn">Differs from v{flow.latestVersion}</Badge>;
  return <span className={style.faint}>Same as v{flow.latestVersion}</span>;
}
