import { Link } from '@tanstack/react-router';
import type { Schemas } from '../api/client.ts';
import { formatCredits, formatDuration } from '../ui/format.ts';
import { LinkButton } from '../ui/link-button.tsx';
import { Panel } from '../ui/page.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import style from './project-page.module.css';

type Run = Schemas['ListedRun'];

/** The project's newest runs; nothing when there are none. */
export function RecentRuns({ runs, slugs }: { runs: Run[]; slugs: { org: string; project: string } }) {
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
                <StatusBadge status={run.status} code={run.code} />
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
