import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Outlet, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { isMissing } from '../api/api-error.ts';
import { $api } from '../api/client.ts';
import { refetchAfter } from '../api/refetch-after.ts';
import { useProject } from '../shell/me.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { LinkButton } from '../ui/link-button.tsx';
import { Page } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { DeletedFlow } from './deleted-flow.tsx';
import { DraftProvider } from './draft/draft-provider.tsx';
import type { Step } from './draft/steps.ts';
import { findFlowId } from './find-flow-id.ts';
import { FlowContext } from './flow-context.ts';
import { FlowHead } from './flow-head.tsx';
import style from './flow-page.module.css';

const POLL_MS = 5_000;

/** The frame of a flow's pages, which share the draft. */
export function FlowPage() {
  const { org, project, flow: slug } = useParams({ from: '/orgs/$org/projects/$project/flows/$flow' });
  const projectId = useProject({ org, project }).project.id;
  const found = useQuery({
    queryKey: ['flow id', projectId, slug],
    queryFn: () => findFlowId(projectId, slug),
    staleTime: (query) => (query.state.data ? Number.POSITIVE_INFINITY : 0),
    // Stays open when the flow is deleted meanwhile, because it may hold unsaved changes.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  return (
    <QueryView query={found}>
      {(flowId) =>
        flowId ? (
          <Flow key={flowId} org={org} project={project} projectId={projectId} flowId={flowId} />
        ) : (
          <Page title="Flow">
            <EmptyState
              title="No such flow"
              text={
                <>
                  The project {project} has no flow with the slug <code>{slug}</code>. It may have been
                  deleted.
                </>
              }
            >
              <LinkButton to="/orgs/$org/projects/$project" params={{ org, project }}>
                All flows
              </LinkButton>
            </EmptyState>
          </Page>
        )
      }
    </QueryView>
  );
}

type Ids = { org: string; project: string; projectId: string; flowId: string };

function Flow({ org, project, projectId, flowId }: Ids) {
  const query = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/flows/{flow_id}',
    { params: { path: { project_id: projectId, flow_id: flowId } } },
    // Other users publish versions and put them into production.
    {
      refetchInterval: (query) =>
        query.state.data !== undefined && !isMissing(query.state.error) && refetchAfter(query, POLL_MS),
    },
  );
  const client = useQueryClient();
  const [deleted, setDeleted] = useState<Step[]>();
  const wasDeleted = isMissing(query.error);
  const isUnknown = wasDeleted && query.data === undefined;
  useEffect(() => {
    // The flow was deleted; another flow may have its slug now.
    if (isUnknown) void client.invalidateQueries({ queryKey: ['flow id', projectId] });
    if (deleted) void client.invalidateQueries({ queryKey: ['flow id', projectId], refetchType: 'none' });
  }, [isUnknown, deleted, client, projectId]);
  return (
    // The draft reports the deletion itself and keeps unsaved changes.
    <QueryView query={wasDeleted && !isUnknown ? { ...query, error: null } : query}>
      {(flow) => (
        <FlowContext value={{ flow, org, project, projectId }}>
          {deleted ? (
            <DeletedFlow steps={deleted} />
          ) : (
            <div className={style.flow}>
              <FlowHead />
              <DraftProvider projectId={projectId} flowId={flowId} onDeleted={setDeleted}>
                <Outlet />
              </DraftProvider>
            </div>
          )}
        </FlowContext>
      )}
    </QueryView>
  );
}
