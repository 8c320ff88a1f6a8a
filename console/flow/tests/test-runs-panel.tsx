import { $api, type Schemas } from '../../api/client.ts';
import { PAGES, refreshPages } from '../../api/pages.ts';
import { refetchAfter } from '../../api/refetch-after.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { formatCredits } from '../../ui/format.ts';
import { MoreButton } from '../../ui/more-button.tsx';
import { Panel } from '../../ui/page.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useFlow } from '../flow-context.ts';
import style from './tests.module.css';

/** The test runs of the flow, newest first. */
export function TestRunsPanel({ onOpen }: { onOpen: (testRunId: string) => void }) {
  const { flow, projectId } = useFlow();
  const query = $api.useInfiniteQuery(
    'get',
    '/api/v1/projects/{project_id}/flows/{flow_id}/test-runs',
    { params: { path: { project_id: projectId, flow_id: flow.id }, query: { limit: 20 } } },
    {
      ...PAGES,
      refetchInterval: (query) =>
        refetchAfter(query, isAnyStarted(query.state.data?.pages) && refreshPages(query)),
    },
  );
  if (query.error && !query.data)
    return (
      <Panel title="Test runs">
        <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
      </Panel>
    );
  const runs = query.data?.pages.flatMap(({ test_runs }) => test_runs) ?? [];
  if (runs.length === 0) return null;
  return (
    <Panel title="Test runs" isFlush>
      <Table label="Test runs" head={['Started', 'Status', 'Passed', 'Credits']}>
        {runs.map(({ test_run_id, status, passed, total, cost, started_at }) => (
          <tr key={test_run_id}>
            <td>
              <button type="button" className={style.link} onClick={() => onOpen(test_run_id)}>
                <Time at={started_at} />
              </button>
            </td>
            <td>
              <StatusBadge status={status === 'completed' && passed < total ? 'failed' : status} />
            </td>
            <td>
              {passed} of {total}
            </td>
            <td>{formatCredits(cost)}</td>
          </tr>
        ))}
      </Table>
      <MoreButton query={query} />
    </Panel>
  );
}

function isAnyStarted(pages: { test_runs: Pick<Schemas['ListedTestRun'], 'status'>[] }[] = []): boolean {
  return pages.some(({ test_runs }) => test_runs.some(({ status }) => status === 'started'));
}
