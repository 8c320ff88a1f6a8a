import { useState } from 'react';
import { $api, type Schemas } from '../../api/client.ts';
import { StatusBadge } from '../../ui/badge.tsx';
import { CodeDifference } from '../../ui/code-editor/code-editor.tsx';
import { QueryView } from '../../ui/feedback.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { formatCredits, formatDuration, formatMoment } from '../../ui/format.ts';
import { Clipped, Row, Table } from '../../ui/page.tsx';
import { useFlow } from '../flow-context.ts';
import { type ComparedCase, compareResults, type Result, writeChange } from './compare-results.ts';
import { nameVersion } from './test-case.ts';
import style from './tests.module.css';

const RUNS = '/api/v1/projects/{project_id}/flows/{flow_id}/test-runs';
const COMPARED_MAX_CHARS = 200_000;
const CHOICES_MAX = 50;
const NOTHING = 'nothing';

/** Chooses the test run to compare with; nothing when there is no other. */
export function CompareWith({
  testRunId,
  against,
  onCompare,
}: {
  testRunId: string;
  against: string | undefined;
  onCompare: (testRunId: string | undefined) => void;
}) {
  const { flow, projectId } = useFlow();
  const { data } = $api.useQuery('get', RUNS, {
    params: { path: { project_id: projectId, flow_id: flow.id }, query: { limit: CHOICES_MAX } },
  });
  const others = (data?.test_runs ?? []).filter(
    ({ test_run_id, status }) => test_run_id !== testRunId && status !== 'started',
  );
  if (others.length === 0) return null;
  return (
    <Row>
      <Select
        label="Compare with"
        value={against ?? NOTHING}
        onChange={(id) => onCompare(id === NOTHING ? undefined : id)}
        options={[
          { id: NOTHING, label: 'No other test run' },
          ...others.map(({ test_run_id, version, passed, total, started_at }) => ({
            id: test_run_id,
            label: `${nameVersion(version)}, ${formatMoment(started_at)}`,
            description: `${passed} of ${total} passed`,
          })),
        ]}
      />
    </Row>
  );
}

/** The results of a test run beside those of an earlier one, with the cases that have changed first. */
export function Comparison({ after, against }: { after: Schemas['TestRun']; against: string }) {
  const { flow, projectId } = useFlow();
  const query = $api.useQuery('get', `${RUNS}/{test_run_id}`, {
    params: { path: { project_id: projectId, flow_id: flow.id, test_run_id: against } },
  });
  return (
    <QueryView query={query}>
      {(before) => {
        const cases = compareResults(before.results, after.results);
        const changed = cases.filter(({ isChanged }) => isChanged).length;
        return (
          <>
            <p role="status">
              {changed === 0 ? 'No verdict has changed.' : `${changed} of ${cases.length} verdicts changed.`}
            </p>
            <div className={style.wide}>
              <Table
                label="Comparison"
                head={[
                  'Test case',
                  `Before: ${nameVersion(before.version)}`,
                  `After: ${nameVersion(after.version)}`,
                  'Credits',
                  'Time',
                ]}
              >
                {cases.map((compared) => (
                  <CaseRows key={compared.id} compared={compared} />
                ))}
              </Table>
            </div>
          </>
        );
      }}
    </QueryView>
  );
}

function CaseRows({ compared: { name, before, after } }: { compared: ComparedCase }) {
  const [isOpen, setOpen] = useState(false);
  const both = before && after;
  return (
    <>
      <tr>
        <td className={style.name}>
          {both ? (
            <button
              type="button"
              className={style.link}
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            >
              <Clipped text={name} />
            </button>
          ) : (
            <Clipped text={name} />
          )}
          {after?.why && after.status !== 'passed' && <p className={style.why}>{after.why}</p>}
        </td>
        {[before, after].map((result, index) => (
          <td key={index === 0 ? 'before' : 'after'}>
            {result ? <StatusBadge status={result.status} /> : <span className={style.soft}>Not run</span>}
          </td>
        ))}
        <td>{writeChange(before?.cost, after?.cost, formatCredits)}</td>
        <td>{writeChange(before?.ms, after?.ms, formatDuration)}</td>
      </tr>
      {isOpen && both && (
        <tr>
          <td colSpan={5}>
            <Answers before={before} after={after} />
          </td>
        </tr>
      )}
    </>
  );
}

/** The answers of a case in two test runs, as a difference. */
function Answers({ before, after }: { before: Result; after: Result }) {
  const { flow, org, project } = useFlow();
  const options = (executionId: string) => ({
    params: { path: { org, project, flow: flow.slug, executionId } },
  });
  const path = '/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}';
  const old = $api.useQuery('get', path, options(before.flow_run_id));
  const now = $api.useQuery('get', path, options(after.flow_run_id));
  return (
    <QueryView query={old}>
      {(first) => (
        <QueryView query={now}>
          {(second) => {
            const [was, is] = [first, second].map((run) =>
              run.status === 'completed' ? writeAnswer(run.result) : 'No answer.',
            ) as [string, string];
            if (was === is) return <p className={style.soft}>The answers are the same.</p>;
            return (
              <CodeDifference
                label="Answer before, and after"
                before={was.slice(0, COMPARED_MAX_CHARS)}
                after={is.slice(0, COMPARED_MAX_CHARS)}
                language="json"
              />
            );
          }}
        </QueryView>
      )}
    </QueryView>
  );
}

function writeAnswer(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result, null, 2) ?? '');
}
