// `weir runs list`, page by page.

import { callApi, listAll } from '../api/call-api.ts';
import {
  ALL_RUNS_PATH,
  type ListedRun,
  organizationPath,
  projectPath,
  runListPaths,
} from '../api/get-resource.ts';
import { splitScope, UsageError } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, oneLine } from '../terminal/print.ts';

type Reason = NonNullable<ListedRun['stuck']>['reason'];

const MEND: { [reason in Reason]: string } = {
  cancelling: 'it was cancelled, but has not ended; ask the operator of the service',
  retrying: 'a block fails repeatedly: see the last error; wait for its next attempt, or cancel the run',
  crash_looping: 'a block lost its workers repeatedly; ask the operator of the service, or cancel the run',
  waiting_for_model:
    'a block waits for a model that has not answered: wait for its request to time out, or cancel the run',
  waiting:
    'no worker has started its next block, because workers are busy or down; it continues automatically',
};

const ERROR_MAX_CHARS = 80;

/** The filter options of the commands that list or change runs. */
export type FilterOptions = {
  status?: string;
  mode?: string;
  environment?: string;
  version?: number;
  key?: string;
  since?: Date;
  until?: Date;
};

type ListOptions = FilterOptions & {
  outcome?: string;
  minCost?: string;
  id?: string;
  search?: string;
  errorGroup?: string;
  bulk?: string;
  stuck?: boolean;
  allOrganizations?: boolean;
  limit: number;
};

/** Lists the runs of an organization, project or flow, newest first. Without a path, lists all runs that the caller can see. */
export async function list(
  path: string | undefined,
  { limit, ...options }: ListOptions,
): Promise<CommandResult> {
  const { status, outcome, mode, environment, version, key, since, until, minCost, id, search, stuck } =
    options;
  if (path !== undefined && options.allOrganizations)
    throw new UsageError('Give a path, or --all-organizations, not both.');
  const places = options.allOrganizations ? [{ url: ALL_RUNS_PATH }] : await placesOf(path);
  if (stuck && places.some(({ url }) => url === ALL_RUNS_PATH))
    throw new UsageError('Name an organization; weir operator runs stuck lists the stuck runs of all.');
  const filter = {
    ...{ status, outcome, mode, environment, version, key, since, until, minCost, id, search, stuck },
    error_group: options.errorGroup,
    bulk_id: options.bulk,
  };
  const found: ListedRun[] = [];
  for (const { url, flow } of places)
    found.push(...(await listAll<ListedRun>(url, 'runs', { limit, query: { ...filter, flow } })));
  if (found.length === 0 && path !== undefined) await requireFlow(path);
  const runs = found.sort((a, b) => b.startedAt.localeCompare(a.startedAt)).slice(0, limit);
  return { json: runs, text: stuck ? stuckTable(runs) : runTable(runs) };
}

/** Throws NOT_FOUND if the path names a flow that does not exist. The project's list of runs is only empty then. */
export async function requireFlow(path: string): Promise<void> {
  const names = path.split('/').map(encodeURIComponent);
  if (names.length === 3)
    await callApi('GET', `/api/v1/seq/${names.join('/')}/runs`, { query: { limit: 1 } });
}

/** Finds the URLs of the lists with the runs of a path; without a path, of all lists. Throws for a misspelled path. */
async function placesOf(path: string | undefined): Promise<{ url: string; flow?: string }[]> {
  if (path === undefined) return (await runListPaths()).map((url) => ({ url }));
  const { organization = '', project, flow } = splitScope(path);
  if (project === undefined) return [{ url: await organizationPath(organization, 'runs') }];
  const url = await projectPath(`${organization}/${project}`, 'runs');
  return [{ url, ...(flow !== undefined && { flow }) }];
}

function runTable(runs: ListedRun[]): string {
  return formatTable(
    ['execution', 'flow', 'version', 'mode', 'outcome', 'started', 'ms', 'credits'],
    runs.map((run) => [
      run.executionId,
      `${run.organization}/${run.project}/${run.flow}`,
      run.version,
      run.mode,
      describeOutcome(run),
      formatTime(run.startedAt),
      run.durationMs,
      run.cost,
    ]),
    'No runs were found.',
  );
}

function describeOutcome({ status, outcome, code }: ListedRun): string {
  const shown = outcome ?? status;
  return code === undefined || outcome === 'cancelled' ? shown : `${shown} (${code})`;
}

/** Formats a table with one row for each stuck run, and advice for each reason below the table. */
function stuckTable(runs: ListedRun[]): string {
  const reasons = new Set(runs.flatMap(({ stuck }) => stuck?.reason ?? []));
  return [
    formatTable(
      ['execution', 'flow', 'reason', 'since', 'next attempt', 'last error'],
      runs.map(({ executionId, organization, project, flow, stuck }) => [
        executionId,
        `${organization}/${project}/${flow}`,
        stuck?.reason,
        stuck && formatTime(stuck.since),
        stuck?.nextAttemptAt && formatTime(stuck.nextAttemptAt),
        stuck?.errorMessage && oneLine(stuck.errorMessage).slice(0, ERROR_MAX_CHARS),
      ]),
      'No run is stuck.',
    ),
    ...(reasons.size > 0 ? ['', ...[...reasons].map((reason) => `${reason}: ${MEND[reason]}`)] : []),
  ].join('\n');
}
