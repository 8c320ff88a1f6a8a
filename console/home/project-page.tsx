import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../api/client.ts';
import { PAGES, refreshPages } from '../api/pages.ts';
import { NewFlowDialog } from '../flow/new-flow-dialog.tsx';
import { Invitations } from '../shell/invitations.tsx';
import { useProject } from '../shell/me.ts';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { Page, Panel } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { TextField } from '../ui/text-field.tsx';
import { FlowsTable } from './flows-table.tsx';
import { NextSteps } from './next-steps.tsx';
import style from './project-page.module.css';
import { RecentRuns } from './recent-runs.tsx';

const REFRESH_MS = 5_000;
const SEARCH_FROM = 8;
const RECENT = 8;

/** A project: its flows, its newest runs, and what a newcomer does next. */
export function ProjectPage() {
  const slugs = useParams({ from: '/orgs/$org/projects/$project/' });
  const { project } = useProject(slugs);
  const [isOpen, setOpen] = useState(false);
  const [search, setSearch] = useState('');
  const flows = $api.useInfiniteQuery(
    'get',
    '/api/v1/projects/{project_id}/flows',
    { params: { path: { project_id: project.id }, query: { limit: 50 } } },
    { ...PAGES, refetchInterval: refreshPages },
  );
  const runs = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/runs',
    { params: { path: { project_id: project.id }, query: { limit: RECENT } } },
    { refetchInterval: REFRESH_MS },
  );
  const all = flows.data?.pages.flatMap((page) => page.flows) ?? [];
  const newest = runs.data?.runs ?? [];
  const create = (
    <Button variant="primary" onPress={() => setOpen(true)}>
      New flow
    </Button>
  );
  return (
    <Page title={project.name} actions={create}>
      <Invitations />
      <QueryView query={flows}>
        {() => {
          const wanted = search.trim().toLowerCase();
          const found = all.filter(({ name, slug }) => `${name} ${slug}`.toLowerCase().includes(wanted));
          if (all.length === 0)
            return (
              <Panel>
                <EmptyState
                  title="Create the first flow"
                  text="A flow is a tree of steps: blocks that ask a model or run code, one after another, in parallel, or in a loop."
                >
                  {create}
                </EmptyState>
              </Panel>
            );
          return (
            <Panel
              title="Flows"
              isFlush
              actions={
                (all.length > SEARCH_FROM || flows.hasNextPage) && (
                  <div className={style.search}>
                    <TextField
                      label="Find a flow"
                      hideLabel
                      placeholder="Find a flow"
                      type="search"
                      value={search}
                      onChange={setSearch}
                    />
                  </div>
                )
              }
            >
              {found.length > 0 ? (
                <FlowsTable flows={found} slugs={slugs} />
              ) : (
                <EmptyState
                  title="No such flow"
                  text={`None of the ${all.length} flows ${flows.hasNextPage ? 'fetched so far ' : ''}has “${search.trim()}” in its name or slug.`}
                />
              )}
              <MoreButton query={flows} />
            </Panel>
          );
        }}
      </QueryView>
      <QueryView query={runs}>{() => <RecentRuns runs={newest} slugs={slugs} />}</QueryView>
      {/* Last, so that it moves nothing when it comes late. */}
      {runs.data && <NextSteps slugs={slugs} flows={all} runs={newest} />}
      {isOpen && <NewFlowDialog projectId={project.id} slugs={slugs} onClose={() => setOpen(false)} />}
    </Page>
  );
}
