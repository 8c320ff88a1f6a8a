// `weir test-runs`: lists the test runs of a flow, and compares two of them.
import { ServiceError } from '../../flow/errors.ts';
import { callApi } from '../api/call-api.ts';
import { getFlow } from '../api/get-resource.ts';
import { type CommandResult, formatTable, formatTime } from '../terminal/print.ts';
import { urlOf } from './service-flow.ts';
import type { TestRun as Tested } from './test-flows.ts';

type Result = Tested['results'][number] & { test_case_id: string };
type TestRun = Omit<Tested, 'results'> & { version: number; results: Result[] };
type ListedTestRun = Omit<TestRun, 'results'> & { started_at: string };
/** A case in two test runs; absent where it was not run. */
type Compared = { name: string; isChanged: boolean; before?: Result; after?: Result };

const LISTED = 20;

/** Lists the newest test runs of a flow. */
export async function listTestRuns(path: string): Promise<CommandResult> {
  const runs = await readTestRuns(path);
  const rows = runs.map(({ test_run_id, status, version, passed, total, cost, started_at }) => [
    test_run_id,
    formatTime(started_at),
    status,
    nameVersion(version),
    `${passed} of ${total}`,
    cost,
  ]);
  const header = ['test run', 'started', 'status', 'version', 'passed', 'credits'];
  return { json: runs, text: formatTable(header, rows, 'There is no test run.') };
}

/** Compares two test runs of a flow, by default the last two. */
export async function compareTestRuns(path: string, before?: string, after?: string): Promise<CommandResult> {
  const [last, lastButOne] = before === undefined || after === undefined ? await readTestRuns(path) : [];
  const url = `${urlOf(await getFlow(path))}/test-runs`;
  async function read(id: string | undefined): Promise<TestRun> {
    if (id !== undefined) return callApi<TestRun>('GET', `${url}/${encodeURIComponent(id)}`);
    throw new ServiceError('NOT_FOUND', 'The flow has not two test runs: run weir test first.');
  }
  const from = await read(before ?? lastButOne?.test_run_id);
  const to = await read(after ?? last?.test_run_id);
  const compared = compare(from, to);
  const rows = compared.map(({ name, isChanged, before, after }) => [
    name,
    before?.status ?? 'not run',
    after?.status ?? 'not run',
    isChanged ? 'changed' : '',
    before?.ms ?? null,
    after?.ms ?? null,
    before?.cost ?? null,
    after?.cost ?? null,
    (after?.status === 'passed' ? null : after?.why) ?? '',
  ]);
  const header = ['test case', 'before', 'after', '', 'ms', 'ms', 'credits', 'credits', 'why'];
  const changed = compared.filter(({ isChanged }) => isChanged).length;
  const table = formatTable(header, rows, 'The test runs have no case.');
  const text = `${table}\n${describe(from)} → ${describe(to)}; ${changed} changed.`;
  return { json: { before: from, after: to, cases: compared }, text };
}

async function readTestRuns(path: string): Promise<ListedTestRun[]> {
  const url = `${urlOf(await getFlow(path))}/test-runs?limit=${LISTED}`;
  return (await callApi<{ test_runs: ListedTestRun[] }>('GET', url)).test_runs;
}

/** Pairs the results of two test runs by case; cases with another verdict come first. */
function compare(from: TestRun, to: TestRun): Compared[] {
  const before = new Map(from.results.map((result) => [result.test_case_id, result]));
  const after = new Map(to.results.map((result) => [result.test_case_id, result]));
  return [...new Set([...after.keys(), ...before.keys()])]
    .map((id) => {
      const [old, now] = [before.get(id), after.get(id)];
      const pair = { ...(old && { before: old }), ...(now && { after: now }) };
      return { name: now?.name ?? old?.name ?? '', isChanged: old?.status !== now?.status, ...pair };
    })
    .sort((one, other) => Number(other.isChanged) - Number(one.isChanged));
}

function describe({ version, passed, total }: TestRun): string {
  return `${nameVersion(version)}: ${passed} of ${total} passed`;
}

function nameVersion(version: number): string {
  return version === 0 ? 'draft' : `v${version}`;
}
