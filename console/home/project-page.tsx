import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, type Schemas } from '../api/client.ts';
import examples from '../flow/examples.json';
import { type FlowStart, NewFlowDialog } from '../flow/new-flow-dialog.tsx';
import { Invitations } from '../shell/join-organization.tsx';
import { useProject } from '../shell/me.ts';
import { useOpenFromAddress } from '../shell/use-open-from-address.ts';
import { StatusBadge } from '../ui/badge.tsx';
import { Button, LinkButton } from '../ui/button.tsx';
import { EmptyState, QueryView } from '../ui/feedback.tsx';
import { formatCredits, formatDuration } from '../ui/format.ts';
import { Page, Panel, Table } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { FlowsPanel, useFlows } from './flows-panel.tsx';
import { NextSteps } from './next-steps.tsx';
import style from './project-page.module.css';

type Run = Schemas['ListedRun'];

const REFRESH_MS = 5_000;
const RECENT = 8;

/** A project: its flows, its newest runs, and a newcomer's next steps. */
export function ProjectPage() {
  const slugs = useParams({ from: '/orgs/$org/projects/$project/' });
  const { project } = useProject(slugs);
  const [opened, setOpened] = useState<{ begin?: FlowStart; isImport?: boolean }>();
  useOpenFromAddress('new', () => setOpened({}));
  useOpenFromAddress('import', () => setOpened({ isImport: true }));
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
    <Button variant="primary" onPress={() => setOpened({})}>
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
              <Examples onChoose={(begin) => setOpened({ begin })} />
            </Panel>
          )
        }
      </QueryView>
      <QueryView query={runs}>{() => <RecentRuns runs={newest} slugs={slugs} />}</QueryView>
      {/* Last, so that it moves nothing when it appears late. */}
      {runs.data && <NextSteps slugs={slugs} flows={all} runs={newest} />}
      {opened && (
        <NewFlowDialog
          {...opened}
          projectId={project.id}
          slugs={slugs}
          onClose={() => setOpened(undefined)}
        />
      )}
    </Page>
  );
}

/** The examples, each with a button that begins a flow with it. */
function Examples({ onChoose }: { onChoose: (example: FlowStart) => void }) {
  return (
    <section aria-label="Examples">
      <p className={style.faint}>Or begin with an example:</p>
      <ul className={style.examples}>
        {examples.map((example) => (
          <li key={example.slug}>
            <button type="button" className={style.example} onClick={() => onChoose(example)}>
              <strong>{example.name}</strong>
              <span>{example.description || example.steps.map(({ name }) => name).join(', ')}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The project's newest runs; nothing when there are none. */
function RecentRuns({ runs, slugs }: { runs: Run[]; slugs: { org: string; project: string } }) {
  if (runs.length === 0) return null;
  return (
    <Panel
      title="Recent runs"
      isFlush
      actions={
        <LinkButton variant="quiet" to="/orgs/$org/projects/$project/runs" params={slugs}>
          All runs
        </LinkButton>
      }
    >
      <Table label="Recent runs" head={['Status', 'Flow', 'Version', 'Started', 'Took', 'Credits']}>
        {runs.map((run) => (
          <tr key={run.executionId}>
            <td>
              <Link
                className={style.run}
                to="/orgs/$org/projects/$project/flows/$flow/runs/$executionId"
                params={{ ...slugs, flow: run.flow, executionId: run.executionId }}
              >
                <StatusBadge status={run.outcome ?? run.status} />
              </Link>
            </td>
            <td>{run.flow}</td>
            <td>{run.version === 0 ? 'Draft' : `v${run.version}`}</td>
            <td>
              <Time at={run.startedAt} />
            </td>
            <td>{run.durationMs === null ? '—' : formatDuration(run.durationMs)}</td>
            <td>{formatCredits(run.cost)}</td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}
