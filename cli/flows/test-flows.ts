// `weir test`: runs the test cases of drafts or versions and shows the results.

import { ServiceError } from '../../flow/errors.ts';
import { callApi, poll } from '../api/call-api.ts';
import type { Flow } from '../api/get-resource.ts';
import { Unreachable } from '../api/to-error.ts';
import { describeError } from '../terminal/describe-error.ts';
import { writeText } from '../terminal/files.ts';
import { onInterruption } from '../terminal/interruption.ts';
import { type CommandResult, formatTable, note } from '../terminal/print.ts';
import { getFlows, nameUnfinished, requireExisting } from './flow-arguments.ts';
import { requirePushed } from './push-plan.ts';
import { urlOf } from './service-flow.ts';

type Result = Pick<TestRun['results'][number], 'name' | 'status' | 'why' | 'ms'>;

const POLL_MS = 500;

export type TestRun = {
  test_run_id: string;
  status: string;
  total: number;
  passed: number;
  cost: number;
  results: {
    name: string;
    status: 'pending' | 'passed' | 'failed' | 'error';
    why: string | null;
    flow_run_id: string;
    ms: number | null;
    cost: number;
  }[];
};

export type TestedVersion = 'draft' | 'production' | number;

/** `testRun` is null for a flow without test cases, and for one whose tests could not be run: `error` says why. */
type TestedFlow = { flow: string; testRun: TestRun | null; error?: string };

/** Runs the test cases of drafts, and waits for their results. */
export async function testFlows(
  names: string[],
  {
    project,
    junit,
    version,
    concurrency,
  }: { project?: string; junit?: string; version: TestedVersion; concurrency: number },
): Promise<CommandResult> {
  const flows = (await getFlows(names, project)).map(requireExisting);
  if (version === 'draft')
    for (const { local, ...named } of flows) if (local) await requirePushed({ ...named, local }, 'tested');
  // A file that cannot be written is said before the tests are run and charged.
  if (junit !== undefined) await writeText(junit, formatJUnit([]));
  const underWay = new Set<string>();
  onInterruption(() => Promise.all([...underWay].map(cancelTestRun)));
  const tested: TestedFlow[] = [];
  // A failure to run one flow's tests does not hide the results of the others.
  const errors: unknown[] = [];
  const waiting = flows.entries();
  /** Why the service cannot be asked: it is then not asked about other flows. */
  let away: Unreachable | undefined;
  const testWaiting = async () => {
    for (const [place, named] of waiting)
      try {
        if (away) throw away;
        const testRun = await runTests(named.flow, version, underWay).catch(nameUnfinished(named));
        tested[place] = { flow: named.path, testRun };
      } catch (error) {
        errors.push(error);
        if (error instanceof Unreachable) away = error;
        tested[place] = { flow: named.path, testRun: null, error: describeError(error) };
      }
  };
  await Promise.all(Array.from({ length: concurrency }, testWaiting));
  if (junit !== undefined) await writeText(junit, formatJUnit(tested));
  if (flows.length === 1 && errors.length === 1) throw errors[0];
  const isEmpty = tested.every(({ testRun }) => !testRun);
  const isFailed =
    errors.length > 0 || tested.some(({ testRun }) => testRun && testRun.passed < testRun.total);
  if (isEmpty || isFailed) process.exitCode = 1;
  return { json: tested, text: `${tableOf(tested)}\n${summaryOf(tested)}` };
}

function tableOf(tested: TestedFlow[]): string {
  const rows = tested.flatMap(({ flow, testRun, error }) =>
    error === undefined
      ? (testRun?.results ?? []).map(({ name, status, ms, cost, why }) => [
          flow,
          name,
          status,
          ms,
          cost,
          why ?? '',
        ])
      : [[flow, null, 'error', null, null, error]],
  );
  return formatTable(
    ['flow', 'test case', 'result', 'ms', 'credits', 'why'],
    rows,
    'Nothing was tested: there are no test cases.',
  );
}

function summaryOf(tested: TestedFlow[]): string {
  const runs = tested.flatMap(({ testRun }) => testRun ?? []);
  const total = runs.reduce((sum, run) => sum + run.total, 0);
  const passed = runs.reduce((sum, run) => sum + run.passed, 0);
  const without = tested
    .filter(({ testRun, error }) => !testRun && error === undefined)
    .map(({ flow }) => flow);
  const untested = tested.filter(({ error }) => error !== undefined).map(({ flow }) => flow);
  return [
    ...(runs.length > 0 ? [`${passed} of ${total} test cases passed.`] : []),
    ...(without.length > 0 ? [`Without test cases: ${without.join(', ')}.`] : []),
    ...(untested.length > 0 ? [`Not tested: ${untested.join(', ')}.`] : []),
  ].join('\n');
}

/** Runs all test cases of a draft and waits for their end, with its id in `underWay`; null when there are none. */
async function runTests(flow: Flow, version: TestedVersion, underWay: Set<string>): Promise<TestRun | null> {
  const url = `${urlOf(flow)}/test-runs`;
  let run: TestRun;
  try {
    run = await callApi<TestRun>('POST', url, { body: { version } });
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'CONFLICT') return null;
    throw error;
  }
  underWay.add(run.test_run_id);
  try {
    return await poll<TestRun>(`${url}/${run.test_run_id}`, POLL_MS, ({ status }) => status !== 'started');
  } finally {
    underWay.delete(run.test_run_id);
  }
}

/** Cancels a test run, for whose results nobody waits any more. */
async function cancelTestRun(id: string): Promise<void> {
  await callApi('POST', `/api/v1/test-runs/${id}/cancel`);
  note(`The test run ${id} is being cancelled.`);
}

/** Writes test results as JUnit XML, which CI systems show: a suite for each flow. */
export function formatJUnit(tested: TestedFlow[]): string {
  const suites = tested.flatMap(({ flow, testRun, error }) => {
    if (error !== undefined)
      return [suiteOf(flow, [{ name: 'all test cases', status: 'error', why: error, ms: null }])];
    return testRun ? [suiteOf(flow, testRun.results)] : [];
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`;
}

function suiteOf(flow: string, results: Result[]): string {
  const count = (wanted: string) => results.filter(({ status }) => status === wanted).length;
  const cases = results.map((result) => caseOf(flow, result));
  return `  <testsuite name="${escapeXml(flow)}" tests="${results.length}" failures="${count('failed')}" errors="${count('error')}" skipped="${count('pending')}">\n${cases.join('')}  </testsuite>\n`;
}

function caseOf(flow: string, { name, status, why, ms }: Result): string {
  const time = ms === null ? '' : ` time="${ms / 1_000}"`;
  const opening = `    <testcase classname="${escapeXml(flow)}" name="${escapeXml(name)}"${time}`;
  if (status === 'passed') return `${opening}/>\n`;
  const element = { failed: 'failure', error: 'error', pending: 'skipped' }[status];
  return `${opening}><${element} message="${escapeXml(why ?? '')}"/></testcase>\n`;
}

/** Escapes text for an XML attribute; characters that XML cannot hold are replaced. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{fffd}')
    .replace(/[&<>"\t\n\r]/g, (character) => `&#${character.codePointAt(0)};`);
}
