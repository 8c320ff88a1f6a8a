import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import { isMissing } from '../api/api-error.ts';
import { useProject } from '../shell/me.ts';
import { StatusBadge } from '../ui/badge.tsx';
import { LinkButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/code-block.tsx';
import { EmptyState, ErrorNote, Loading, Note } from '../ui/feedback.tsx';
import { shortId } from '../ui/format.ts';
import { Page, Stack } from '../ui/page.tsx';
import { BlockDetail } from './detail/block-detail.tsx';
import { RunDetail } from './detail/run-detail.tsx';
import { useTypedResults } from './detail/tool-results.tsx';
import { RunActions } from './run-actions.tsx';
import { RunNeighbours } from './run-neighbours.tsx';
import style from './run-page.module.css';
import { BlockNotLoaded, type MoreBlocks, RunError, RunFacts } from './run-summary.tsx';
import { chosenExecution, nameExecution } from './trace/executions.ts';
import { buildSpans, type Execution, spanKey } from './trace/spans.ts';
import { TracePanel } from './trace/trace-panel.tsx';
import { useRun } from './use-run.ts';

const route = getRouteApi('/orgs/$org/projects/$project/flows/$flow/runs/$executionId');

/** As in run-page.module.css. */
const ONE_COLUMN = '(max-width: 1100px)';

/** One run: its blocks over time or on the graph, and the details of the selected block. */
export function RunPage() {
  const path = route.useParams();
  const view = route.useSearch();
  const navigate = route.useNavigate();
  const { organization, project } = useProject(path);
  const { run, blocks, executions, steps, treeError, now, more } = useRun(path);
  const typed = useTypedResults(path.executionId);
  const detail = useRef<HTMLElement>(null);
  const root = useMemo(
    () => (run.data ? buildSpans(run.data, steps, executions, now) : undefined),
    [run.data, steps, executions, now],
  );
  if (run.error && !run.data)
    return <NoRun error={run.error} path={path} onRetry={() => void run.refetch()} />;
  const title = `Run ${shortId(path.executionId)}`;
  const chosen = chosenExecution(executions, view);
  // The same element while the next run is loading, so that its buttons keep the focus.
  const actions = (
    <>
      <RunNeighbours
        place={{ organizationId: organization.id, projectId: project.id }}
        path={path}
        view={view}
        isKnown={run.data !== undefined}
      />
      {run.data && (
        <RunActions
          key={path.executionId}
          run={run.data}
          path={path}
          chosen={chosen}
          steps={steps}
          projectId={project.id}
        />
      )}
    </>
  );
  if (!run.data || !root)
    return (
      <Page title={title} isFull actions={actions}>
        <Loading label="Loading the run …" />
      </Page>
    );

  const siblings = chosen ? executions.filter(({ step_id }) => step_id === chosen.step_id) : [];
  function choose(execution: Execution | undefined) {
    const block = execution && nameExecution(executions, execution);
    void navigate({
      search: ({ view, list }) => ({ ...block, ...(view && { view }), ...(list && { list }) }),
      replace: true,
    });
  }
  /** Brings the details into view in a narrow window, where they are below the blocks. */
  function showDetail() {
    if (matchMedia(ONE_COLUMN).matches) detail.current?.scrollIntoView({ block: 'start' });
  }
  return (
    <Page
      title={title}
      isFull
      beside={<StatusBadge status={run.data.outcome ?? run.data.status} />}
      text={
        <nav aria-label="Breadcrumb" className={style.crumbs}>
          <ol>
            <li>
              <Link
                to="/orgs/$org/projects/$project/runs"
                params={path}
                search={view.list === 'all' ? {} : (view.list ?? {})}
              >
                Runs
              </Link>
            </li>
            <li>
              <Link to="/orgs/$org/projects/$project/runs" params={path} search={{ flow: path.flow }}>
                {path.flow}
              </Link>
            </li>
            <li>
              <code>{path.executionId}</code> <CopyButton text={path.executionId} label="Copy the run’s id" />
            </li>
          </ol>
        </nav>
      }
      actions={actions}
    >
      <div key={path.executionId} className={style.page}>
        <RunFacts run={run.data} path={path} root={root} now={now} />
        {blocks.data?.notes.map((note) => (
          <Note key={note}>{note}</Note>
        ))}
        {run.error && <ErrorNote error={run.error} />}
        <RunError
          run={run.data}
          steps={steps}
          executions={executions}
          more={more}
          onChoose={(execution) => {
            choose(execution);
            showDetail();
          }}
        />
        <div className={style.columns}>
          <TracePanel
            root={root}
            steps={steps}
            treeError={treeError}
            blocks={blocks}
            chosen={chosen}
            isGraph={view.view === 'graph'}
            onView={(graph) =>
              void navigate({
                search: ({ view: _, ...rest }) => (graph ? { ...rest, view: 'graph' } : rest),
                replace: true,
              })
            }
            onChoose={choose}
            onOpen={showDetail}
            more={more}
          />
          <section ref={detail} className={style.detail} aria-label={chosen ? 'Block' : 'Run'}>
            {chosen ? (
              <BlockDetail
                key={spanKey(chosen)}
                path={path}
                execution={chosen}
                siblings={siblings}
                runStartedAt={run.data.startedAt}
                onSelect={choose}
              />
            ) : (
              <Stack>
                {view.block !== undefined && blocks.data && (
                  <NoBlock block={view.block} more={more} isRunning={run.data.status === 'started'} />
                )}
                <RunDetail
                  run={run.data}
                  path={path}
                  organization={organization.slug}
                  projectId={project.id}
                  steps={steps}
                  typed={typed}
                />
              </Stack>
            )}
          </section>
        </div>
      </div>
    </Page>
  );
}

/** Says that the run has no such block as the address names. */
function NoBlock({
  block,
  more,
  isRunning,
}: {
  block: string;
  more: MoreBlocks | undefined;
  isRunning: boolean;
}) {
  const name = (
    <>
      The block <code>{block}</code>
    </>
  );
  return (
    <Note tone="warn">
      {more ? (
        <BlockNotLoaded block={name} more={more} />
      ) : (
        <span>
          {name} {isRunning ? 'has not started in this run.' : 'was not executed by this run.'}
        </span>
      )}
    </Note>
  );
}

function NoRun({
  error,
  path,
  onRetry,
}: {
  error: Error;
  path: { org: string; project: string; executionId: string };
  onRetry: () => void;
}) {
  return (
    <Page title="Run">
      {isMissing(error) ? (
        <EmptyState
          title="There is no such run"
          text={
            <>
              This flow has no run <code>{path.executionId}</code>. It was deleted, with its flow or after the
              time for which runs are kept, or it belongs to another flow or organization.
            </>
          }
        >
          <LinkButton
            to="/orgs/$org/projects/$project/runs"
            params={{ org: path.org, project: path.project }}
            variant="primary"
          >
            To the runs
          </LinkButton>
        </EmptyState>
      ) : (
        <ErrorNote error={error} onRetry={onRetry} />
      )}
    </Page>
  );
}
