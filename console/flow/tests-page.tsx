import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Pencil, Play, Plus, Trash2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { $api, api, refetch, type Schemas } from '../api/client.ts';
import { PAGES, refetchAfter, refreshPages } from '../api/query-options.ts';
import { useOpenFromAddress } from '../shell/use-open-from-address.ts';
import { Badge, StatusBadge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { EmptyState, ErrorNote, MoreButton, QueryView } from '../ui/feedback.tsx';
import { Select } from '../ui/fields/select.tsx';
import { formatCredits, formatDuration } from '../ui/format.ts';
import { Clipped, Panel, Row, Table, useTitle } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { useDraft, useFlow } from './flow-context.ts';
import { CaseDialog } from './tests/case-dialog.tsx';
import { isAnyPending } from './tests/last-results.ts';
import { type CaseDraft, describeListed, getCaseOfRun, nameVersion } from './tests/test-case.ts';
import { TestRunPanel, TestRunsPanel } from './tests/test-runs.tsx';
import style from './tests/tests.module.css';

type CaseRowProps = {
  testCase: Schemas['ListedTestCase'];
  isBusy: boolean;
  onOpen: () => void;
  onRun: () => void;
  onEdit: () => void;
  onDelete: () => void;
};

const FLOW = '/api/v1/projects/{project_id}/flows/{flow_id}';
const CASES = `${FLOW}/test-cases` as const;
const CASE = `${CASES}/{test_case_id}` as const;
const RUNS = `${FLOW}/test-runs` as const;
const VERSIONS_SHOWN = 20;

/** The test cases of a flow with their last results, and its test runs. */
export function TestsPage() {
  const { flow, projectId } = useFlow();
  useTitle(`Test cases · ${flow.name}`);
  const { saveToRun } = useDraft();
  const [editing, setEditing] = useState<CaseDraft>();
  const [toDelete, setToDelete] = useState<Schemas['ListedTestCase']>();
  const [version, setVersion] = useState('draft');
  const { run: testRunId, against, open: openTestRun, compare } = useOpenTestRun();
  useOpenFromAddress('new', () => setEditing({}));
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
      if (version === 'draft') await saveToRun();
      const body = { version: toVersion(version), ...(test_case_id !== undefined && { test_case_id }) };
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
            {cases.length > 0 && flow.latestVersion !== null && (
              <Select
                label="Version to test"
                hideLabel
                options={listVersions(flow)}
                value={version}
                onChange={setVersion}
              />
            )}
            <Button
              variant="primary"
              isDisabled={cases.length === 0}
              isPending={start.isPending}
              onPress={() => start.mutate(undefined)}
            >
              <Play size={14} aria-hidden /> Run all on {describeTested(version)}
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
              <Table
                label="Test cases"
                head={['Name', 'Message', 'Expected', 'Last result', 'Credits', 'Time', 'When', 'Actions']}
              >
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
        <TestRunPanel
          key={testRunId}
          testRunId={testRunId}
          against={against}
          onCompare={compare}
          onClose={() => openTestRun(undefined)}
        />
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

function CaseRow({ testCase, isBusy, onOpen, onRun, onEdit, onDelete }: CaseRowProps) {
  const { name, message, expected, has_tools, last_result: last } = testCase;
  return (
    <tr>
      <td className={style.name}>
        {last ? (
          <button type="button" className={style.link} onClick={onOpen}>
            <Clipped text={name} />
          </button>
        ) : (
          <Clipped text={name} />
        )}
        {has_tools && ' '}
        {has_tools && <Badge>tools</Badge>}
        {last?.why && last.status !== 'passed' && <p className={style.why}>{last.why}</p>}
      </td>
      <td className={style.value}>
        <CutText text={message} label={`Message of ${name}`} />
      </td>
      <td className={style.value}>
        <CutText text={describeListed(expected)} label={`Expectation of ${name}`} />
      </td>
      <td>
        {last ? <StatusBadge status={last.status} /> : <span className={style.soft}>Never run</span>}
        {last && last.version > 0 && <span className={style.soft}> on v{last.version}</span>}
      </td>
      <td>{last ? formatCredits(last.cost) : ''}</td>
      <td className={style.numeric}>{last?.ms != null ? formatDuration(last.ms) : ''}</td>
      <td className={style.numeric}>{last && <Time at={last.tested_at} />}</td>
      <td className={style.actions}>
        <IconButton label={`Run ${name}`} size="small" isDisabled={isBusy} onPress={onRun}>
          <Play size={14} />
        </IconButton>
        <IconButton label={`Edit ${name}`} size="small" onPress={onEdit}>
          <Pencil size={14} />
        </IconButton>
        <IconButton label={`Delete ${name}`} size="small" onPress={onDelete}>
          <Trash2 size={14} />
        </IconButton>
      </td>
    </tr>
  );
}

/** A text cut after two lines; a click shows all of it. */
function CutText({ text, label }: { text: string; label: string }) {
  const [isOpen, setOpen] = useState(false);
  if (text === '') return <span className={style.soft}>Empty</span>;
  return (
    <button
      type="button"
      className={classes(style.cut, isOpen && style.whole)}
      aria-expanded={isOpen}
      aria-label={`${label}: ${text}`}
      dir="auto"
      onClick={() => setOpen(!isOpen)}
    >
      {text}
    </button>
  );
}

function listVersions({ latestVersion, productionVersion }: Schemas['Flow']) {
  const latest = latestVersion ?? 0;
  const numbers = Array.from({ length: Math.min(latest, VERSIONS_SHOWN) }, (_, index) => latest - index);
  return [
    { id: 'draft', label: 'Draft' },
    ...(productionVersion === null
      ? []
      : [{ id: 'production', label: `Production (${nameVersion(productionVersion)})` }]),
    ...numbers.map((number) => ({ id: String(number), label: nameVersion(number) })),
  ];
}

function describeTested(version: string): string {
  if (version === 'draft') return 'the draft';
  return version === 'production' ? version : nameVersion(Number(version));
}

function toVersion(id: string): 'draft' | 'production' | number {
  return id === 'draft' || id === 'production' ? id : Number(id);
}

/**
 * Reads and changes the open test run and the test run beside it in a comparison. Both are search parameters:
 * `?run=<test_run_id>&against=<test_run_id>`.
 */
function useOpenTestRun() {
  const { run, against } = useSearch({ strict: false }) as { run?: unknown; against?: unknown };
  const navigate = useNavigate();
  const go = (changed: { run?: string | undefined; against: string | undefined }) =>
    void navigate({
      to: '.',
      search: ((search: object) => ({ ...search, ...changed })) as never,
      replace: true,
      resetScroll: false,
    });
  return {
    run: typeof run === 'string' ? run : undefined,
    against: typeof against === 'string' ? against : undefined,
    open: (run: string | undefined) => go({ run, against: undefined }),
    compare: (against: string | undefined) => go({ against }),
  };
}

/**
 * Opens a new test case with the input and result of the run in the address, `?from=<executionId>`. Returns the error
 * if that fails.
 */
function useCaseOfRun(onRead: (start: CaseDraft) => void): Error | undefined {
  const { from } = useSearch({ strict: false }) as { from?: unknown };
  const { flow, org, project } = useFlow();
  const navigate = useNavigate();
  const [error, setError] = useState<Error>();
  const handled = useRef<string>(undefined);
  useEffect(() => {
    if (typeof from !== 'string' || handled.current === from) return;
    handled.current = from;
    const path = { org, project, flow: flow.slug, executionId: from };
    Promise.all([
      api.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/fork', {
        params: { path, query: { step: '0' } },
      }),
      api.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}', { params: { path } }),
    ])
      .then(([cursor, job]) => {
        const { message, parameters } = cursor.data ?? {};
        const input = { ...(message !== undefined && { message }), ...(parameters && { parameters }) };
        onRead(getCaseOfRun(input, job.data?.status === 'completed' ? job.data : undefined));
      })
      .catch(setError);
    void navigate({
      to: '.',
      search: ((search: object) => ({ ...search, from: undefined })) as never,
      replace: true,
    });
  });
  return error;
}
