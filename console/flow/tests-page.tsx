import { useMutation } from '@tanstack/react-query';
import { Play, Plus } from 'lucide-react';
import { useState } from 'react';
import { $api, api, type Schemas } from '../api/client.ts';
import { PAGES, refreshPages } from '../api/pages.ts';
import { refetch } from '../api/query-client.ts';
import { refetchAfter } from '../api/refetch-after.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { Panel, Row } from '../ui/page.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Table } from '../ui/table.tsx';
import { showToast } from '../ui/toast.tsx';
import { useTitle } from '../ui/use-title.ts';
import { useDraft } from './draft/draft-context.ts';
import { useFlow } from './flow-context.ts';
import { CaseDialog } from './tests/case-dialog.tsx';
import type { CaseDraft } from './tests/case-draft.ts';
import { CaseRow } from './tests/case-row.tsx';
import { isAnyPending } from './tests/last-results.ts';
import { TestRunPanel } from './tests/test-run-panel.tsx';
import { TestRunsPanel } from './tests/test-runs-panel.tsx';
import style from './tests/tests.module.css';
import { useCaseOfRun } from './tests/use-case-of-run.ts';
import { useOpenTestRun } from './tests/use-open-test-run.ts';

const FLOW = '/api/v1/projects/{project_id}/flows/{flow_id}';
const CASES = `${FLOW}/test-cases` as const;
const CASE = `${CASES}/{test_case_id}` as const;
const RUNS = `${FLOW}/test-runs` as const;

/** The test cases of a flow with their last results, and its test runs. */
export function TestsPage() {
  const { flow, projectId } = useFlow();
  useTitle(`Test cases · ${flow.name}`);
  const { saveToRun } = useDraft();
  const [editing, setEditing] = useState<CaseDraft>();
  const [toDelete, setToDelete] = useState<Schemas['ListedTestCase']>();
  const [testRunId, openTestRun] = useOpenTestRun();
  const ofRun = useCaseOfRun(setEditing);
  const path = { project_id: projectId, flow_id: flow.id };
  const query = $api.useInfiniteQuery(
    'get',
    CASES,
    { params: { path, query: { limit: 50 } } },
    {
      ...PAGES,
      refetchInterval: (query) =>
        refetchAfter(
          query,
          isAnyPending(query.state.data?.pages.flatMap(({ test_cases }) => test_cases)) &&
            refreshPages(query),
        ),
    },
  );
  const start = useMutation({
    meta: { quiet: true },
    mutationFn: async (test_case_id?: string) => {
      await saveToRun();
      const body = test_case_id === undefined ? {} : { test_case_id };
      const { data } = await api.POST(RUNS, { params: { path }, body });
      return data as { test_run_id: string };
    },
    onSuccess: ({ test_run_id }) => {
      openTestRun(test_run_id);
      return refetch(RUNS, CASES);
    },
  });
  const cases = query.data?.pages.flatMap(({ test_cases }) => test_cases) ?? [];

  async function edit(test_case_id: string) {
    try {
      const { data, response } = await api.GET(CASE, { params: { path: { ...path, test_case_id } } });
      setEditing({ ...(data as CaseDraft), etag: response.headers.get('etag') ?? '*' });
    } catch (error) {
      showToast({ tone: 'bad', title: error instanceof Error ? error.message : String(error) });
    }
  }

  const add = (
    <Button onPress={() => setEditing({})}>
      <Plus size={14} aria-hidden /> New test case
    </Button>
  );
  return (
    <div className={style.page}>
      {start.error && <ErrorNote error={start.error} />}
      {ofRun && <ErrorNote error={ofRun} />}
      <Panel
        title="Test cases"
        isFlush
        actions={
          <Row>
            {cases.length > 0 && add}
            <Button
              variant="primary"
              isDisabled={cases.length === 0}
              isPending={start.isPending}
              onPress={() => start.mutate(undefined)}
            >
              <Play size={14} aria-hidden /> Run all on the draft
            </Button>
          </Row>
        }
      >
        <QueryView query={query}>
          {() =>
            cases.length === 0 ? (
              <EmptyState
                title="No test case yet"
                text="A test case is a message with the expected answer. Run them all before you publish; each run costs as much as a run of the flow."
              >
                {add}
              </EmptyState>
            ) : (
              <Table label="Test cases" head={['Name', 'Last result', 'Credits', 'Time', 'When', 'Actions']}>
                {cases.map((testCase) => (
                  <CaseRow
                    key={testCase.test_case_id}
                    testCase={testCase}
                    isBusy={start.isPending}
                    onOpen={() => openTestRun(testCase.last_result?.test_run_id)}
                    onRun={() => start.mutate(testCase.test_case_id)}
                    onEdit={() => void edit(testCase.test_case_id)}
                    onDelete={() => setToDelete(testCase)}
                  />
                ))}
              </Table>
            )
          }
        </QueryView>
        <MoreButton query={query} />
      </Panel>
      {testRunId && (
        <TestRunPanel key={testRunId} testRunId={testRunId} onClose={() => openTestRun(undefined)} />
      )}
      <TestRunsPanel onOpen={openTestRun} />
      {editing && (
        <CaseDialog
          key={editing.etag}
          start={editing}
          onClose={() => setEditing(undefined)}
          onReload={(id) => void edit(id)}
        />
      )}
      <ConfirmDialog
        title="Delete the test case?"
        action="Delete"
        isOpen={toDelete !== undefined}
        onClose={() => setToDelete(undefined)}
        onConfirm={async () => {
          const test_case_id = toDelete?.test_case_id ?? '';
          await api.DELETE(CASE, { params: { path: { ...path, test_case_id } } });
          await refetch(CASES);
        }}
      >
        The case <strong>{toDelete?.name.slice(0, 100)}</strong> is gone for good; the results of earlier test
        runs stay.
      </ConfirmDialog>
    </div>
  );
}
