import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, type Schemas } from '../../api/client.ts';
import { refetch } from '../../api/query-client.ts';
import { refetchAfter } from '../../api/refetch-after.ts';
import { Button } from '../../ui/button.tsx';
import { Clipped } from '../../ui/clipped.tsx';
import { formatCredits, formatDuration } from '../../ui/format.ts';
import { Panel } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { useReturnFocus } from '../../ui/use-return-focus.ts';
import { useFlow } from '../flow-context.ts';
import { ExpectedAndGot } from './expected-and-got.tsx';
import style from './tests.module.css';

const POLL_MS = 1_000;

/** A test run, updated while it is running. Each result opens to show what was expected and what came. */
export function TestRunPanel({ testRunId, onClose }: { testRunId: string; onClose: () => void }) {
  useReturnFocus();
  const { flow, projectId } = useFlow();
  const query = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/flows/{flow_id}/test-runs/{test_run_id}',
    { params: { path: { project_id: projectId, flow_id: flow.id, test_run_id: testRunId } } },
    {
      refetchInterval: (query) => refetchAfter(query, query.state.data?.status === 'started' && POLL_MS),
      structuralSharing: (before, after) => {
        const [old, now] = [before, after] as (Schemas['TestRun'] | undefined)[];
        if (old?.status === 'started' && now?.status !== 'started')
          void refetch(
            '/api/v1/projects/{project_id}/flows/{flow_id}/test-cases',
            '/api/v1/projects/{project_id}/flows/{flow_id}/test-runs',
          );
        return after;
      },
    },
  );
  const cancel = $api.useMutation('post', '/api/v1/test-runs/{test_run_id}/cancel', {
    onSuccess: () => query.refetch(),
  });
  return (
    <Panel
      title="Test run"
      actions={
        <span className={style.actions}>
          {query.data?.status === 'started' && (
            <Button
              size="small"
              isPending={cancel.isPending}
              onPress={() => cancel.mutate({ params: { path: { test_run_id: testRunId } } })}
            >
              Cancel
            </Button>
          )}
          <Button size="small" variant="quiet" onPress={onClose}>
            Close
          </Button>
        </span>
      }
    >
      <QueryView query={query}>
        {(run) => (
          <>
            <p role="status">
              {run.status === 'cancelled' && 'Cancelled: '}
              {run.passed} of {run.total} passed
              {run.failed > 0 && `, ${run.failed} failed`}
              {run.errors > 0 && `, ${run.errors} could not be judged`}
              {run.pending > 0 && `, ${run.pending} pending`} · {formatCredits(run.cost)} credits
            </p>
            <ul className={style.results} aria-label="Results">
              {run.results.map((result) => (
                <Result key={result.test_case_id} result={result} isOnly={run.results.length === 1} />
              ))}
            </ul>
          </>
        )}
      </QueryView>
    </Panel>
  );
}

function Result({ result, isOnly }: { result: Schemas['TestRun']['results'][number]; isOnly: boolean }) {
  const { flow, org, project } = useFlow();
  const [isOpen, setOpen] = useState(isOnly);
  const { name, status, why, ms, cost, flow_run_id, test_case_id } = result;
  const hasEnded = status !== 'pending';
  return (
    <li>
      <div className={style.result}>
        <button
          type="button"
          className={style.link}
          aria-expanded={isOpen}
          disabled={!hasEnded}
          onClick={() => setOpen(!isOpen)}
        >
          <Clipped text={name} />
        </button>
        <StatusBadge status={status} />
        <span className={style.numbers}>
          <span>{formatCredits(cost)} cr</span>
          {ms !== null && <span>{formatDuration(ms)}</span>}
          <Link
            to="/orgs/$org/projects/$project/flows/$flow/runs/$executionId"
            params={{ org, project, flow: flow.slug, executionId: flow_run_id }}
          >
            Open run
          </Link>
        </span>
      </div>
      {why && <p className={status === 'passed' ? style.soft : style.why}>{why}</p>}
      {isOpen && hasEnded && <ExpectedAndGot testCaseId={test_case_id} executionId={flow_run_id} />}
    </li>
  );
}
