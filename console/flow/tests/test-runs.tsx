import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, refetch, type Schemas } from '../../api/client.ts';
import { PAGES, refetchAfter, refreshPages } from '../../api/query-options.ts';
import { StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeDifference } from '../../ui/code-editor/code-editor.tsx';
import { ErrorNote, MoreButton, QueryView } from '../../ui/feedback.tsx';
import { formatCredits, formatDuration } from '../../ui/format.ts';
import { JsonView } from '../../ui/json/json-view.tsx';
import { Clipped, Panel, Table } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useReturnFocus } from '../../ui/use-return-focus.ts';
import { useFlow } from '../flow-context.ts';
import { CompareWith, Comparison } from './comparison.tsx';
import { describeExpectation, type Expectation, nameVersion } from './test-case.ts';
import style from './tests.module.css';

const COMPARED_MAX_CHARS = 200_000;

const POLL_MS = 1_000;

/** A test run, updated while it is running. Each result opens to show what was expected and what came. */
export function TestRunPanel({
  testRunId,
  against,
  onCompare,
  onClose,
}: {
  testRunId: string;
  /** The test run that it is compared with. */
  against: string | undefined;
  onCompare: (testRunId: string | undefined) => void;
  onClose: () => void;
}) {
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
              {nameVersion(run.version)}: {run.status === 'cancelled' && 'cancelled, '}
              {run.passed} of {run.total} passed
              {run.failed > 0 && `, ${run.failed} failed`}
              {run.errors > 0 && `, ${run.errors} could not be judged`}
              {run.pending > 0 && `, ${run.pending} pending`} · {formatCredits(run.cost)} credits
            </p>
            <CompareWith testRunId={testRunId} against={against} onCompare={onCompare} />
            {against !== undefined && run.status !== 'started' ? (
              <Comparison key={against} after={run} against={against} />
            ) : (
              <ul className={style.results} aria-label="Results">
                {run.results.map((result) => (
                  <Result key={result.test_case_id} result={result} isOnly={run.results.length === 1} />
                ))}
              </ul>
            )}
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

/** Compares the current expectation of a test case with the answer of a run; as a difference when both are values. */
function ExpectedAndGot({ testCaseId, executionId }: { testCaseId: string; executionId: string }) {
  const { flow, org, project, projectId } = useFlow();
  const testCase = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/flows/{flow_id}/test-cases/{test_case_id}',
    { params: { path: { project_id: projectId, flow_id: flow.id, test_case_id: testCaseId } } },
  );
  const job = $api.useQuery('get', '/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}', {
    params: { path: { org, project, flow: flow.slug, executionId } },
  });
  return (
    <QueryView query={job}>
      {(run) => (
        <QueryView query={testCase}>
          {(stored) => {
            const expectation = stored.expectation as Expectation;
            const got = run.status === 'completed' ? run.result : undefined;
            const texts =
              expectation.type === 'equals' && run.status === 'completed'
                ? [expectation.value, got].map((value) => JSON.stringify(value, null, 2))
                : undefined;
            if (texts?.every((text) => text.length <= COMPARED_MAX_CHARS))
              return (
                <div className={style.compared}>
                  <h3>Expected, and got</h3>
                  <CodeDifference
                    label="Expected, and got"
                    before={texts[0] ?? ''}
                    after={texts[1] ?? ''}
                    language="json"
                  />
                </div>
              );
            return (
              <div className={style.compared}>
                <h3>Expected</h3>
                <p className={style.soft}>{describeExpectation(expectation).slice(0, 2_000)}</p>
                <h3>Got</h3>
                {run.status === 'completed' ? (
                  <JsonView value={got} label="Answer" />
                ) : (
                  <p className={style.why}>{run.status === 'failed' ? run.errorMessage : 'No answer.'}</p>
                )}
              </div>
            );
          }}
        </QueryView>
      )}
    </QueryView>
  );
}

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
      <Table label="Test runs" head={['Started', 'Version', 'Status', 'Passed', 'Credits']}>
        {runs.map(({ test_run_id, status, version, passed, total, cost, started_at }) => (
          <tr key={test_run_id}>
            <td>
              <button type="button" className={style.link} onClick={() => onOpen(test_run_id)}>
                <Time at={started_at} />
              </button>
            </td>
            <td>{nameVersion(version)}</td>
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
