import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Outlet, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { isMissing } from '../api/api-error.ts';
import { $api, api } from '../api/client.ts';
import { refetchAfter } from '../api/query-options.ts';
import { useProject } from '../shell/me.ts';
import { Badge } from '../ui/badge.tsx';
import { LinkButton } from '../ui/button.tsx';
import { EmptyState, Note, QueryView } from '../ui/feedback.tsx';
import { Page } from '../ui/page.tsx';
import { TabLink, TabLinks } from '../ui/tabs.tsx';
import { DraftProvider } from './draft/draft-provider.tsx';
import type { Step } from './draft/steps.ts';
import { FlowContext, useFlow } from './flow-context.ts';
import { FlowMenu } from './flow-menu.tsx';
import style from './flow-page.module.css';
import { FlowFilePanel } from './versions/flow-file-panel.tsx';

const FLOWS_PAGE = 200;

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

/** Finds the id of the flow with this slug; null when there is none. */
async function findFlowId(project_id: string, slug: string): Promise<string | null> {
  let cursor: string | undefined;
  do {
    const { data } = await api.GET('/api/v1/projects/{project_id}/flows', {
      params: {
        path: { project_id },
        query: { limit: FLOWS_PAGE, search: slug, ...(cursor !== undefined && { cursor }) },
      },
    });
    const found = data?.flows.find((flow) => flow.slug === slug);
    if (found) return found.id;
    cursor = data?.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return null;
}

/**
 * Replaces the pages of a flow that was deleted, or became unreachable, while one was open. `steps` is the draft as it
 * was here.
 */
function DeletedFlow({ steps }: { steps: Step[] }) {
  const { flow, org, project } = useFlow();
  return (
    <Page
      title={flow.name}
      text="This flow was deleted while you had it open, or you can no longer reach it."
      actions={
        <LinkButton variant="primary" to="/orgs/$org/projects/$project" params={{ org, project }}>
          All flows
        </LinkButton>
      }
    >
      <div role="alert">
        <Note tone="warn">
          Changes here are no longer saved, and a deleted flow cannot be restored. The draft below includes
          your last changes: download the file to keep them. <code>weir flow push</code> creates a new flow
          from the file.
        </Note>
      </div>
      <FlowFilePanel name={`${flow.slug}.yaml`} steps={steps} />
    </Page>
  );
}

/** The head of a flow's pages: name, version in production and tabs. */
function FlowHead() {
  const { flow, org, project } = useFlow();
  const params = { org, project, flow: flow.slug };
  return (
    <header className={style.head}>
      <div className={style.title}>
        <h1 title={flow.name}>{flow.name}</h1>
        {flow.productionVersion === null ? (
          <Badge>Not in production</Badge>
        ) : (
          <Badge tone="good">v{flow.productionVersion} in production</Badge>
        )}
        {!flow.draftIsProduction && flow.productionVersion !== null && (
          <Badge tone="warn">
            {`Draft: ${flow.draftIsPublished ? 'same as' : 'differs from'} v${flow.latestVersion}`}
          </Badge>
        )}
        <FlowMenu />
      </div>
      <TabLinks label="Flow">
        <TabLink
          to="/orgs/$org/projects/$project/flows/$flow"
          params={params}
          activeOptions={{ exact: true, includeSearch: false }}
        >
          Editor
        </TabLink>
        <TabLink to="/orgs/$org/projects/$project/flows/$flow/versions" params={params}>
          Versions
        </TabLink>
        <TabLink to="/orgs/$org/projects/$project/flows/$flow/tests" params={params}>
          Test cases
        </TabLink>
        <TabLink to="/orgs/$org/projects/$project/flows/$flow/call" params={params}>
          Call
        </TabLink>
        <TabLink
          to="/orgs/$org/projects/$project/runs"
          params={{ org, project }}
          search={{ flow: flow.slug } as never}
        >
          Runs
        </TabLink>
      </TabLinks>
    </header>
  );
}
