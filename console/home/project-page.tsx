import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../api/client.ts';
import { NewFlowDialog } from '../flow/new-flow-dialog.tsx';
import { Invitations } from '../shell/invitations.tsx';
import { useProject } from '../shell/me.ts';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Page, Panel } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { FlowsPanel, useFlows } from './flows-panel.tsx';
import { NextSteps } from './next-steps.tsx';
import { RecentRuns } from './recent-runs.tsx';

const REFRESH_MS = 5_000;
const RECENT = 8;

/** A project: its flows, its newest runs, and a newcomer's next steps. */
export function ProjectPage() {
  const slugs = useParams({ from: '/orgs/$org/projects/$project/' });
  const { project } = useProject(slugs);
  const [isOpen, setOpen] = useState(false);
  const flows = useFlows(project.id);
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
        {() =>
          all.length > 0 ? (
            <FlowsPanel key={project.id} projectId={project.id} slugs={slugs} />
          ) : (
            <Panel>
              <EmptyState
                title="Create the first flow"
                text="A flow is a tree of steps: blocks that ask a model or run code, one after another, in parallel, or in a loop."
              >
                {create}
              </EmptyState>
            </Panel>
          )
        }
      </QueryView>
      <QueryView query={runs}>{() => <RecentRuns runs={newest} slugs={slugs} />}</QueryView>
      {/* Last, so that it moves nothing when it appears late. */}
      {runs.data && <NextSteps slugs={slugs} flows={all} runs={newest} />}
      {isOpen && <NewFlowDialog projectId={project.id} slugs={slugs} onClose={() => setOpen(false)} />}
    </Page>
  );
}
