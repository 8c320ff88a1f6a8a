// `weir runs list`, and `weir runs retry` and `cancel` with a filter, page by page.

import type { z } from 'zod';
import type { bulkAnswer } from '../../api/runs/run-list-query.ts';
import { callApi, listAll } from '../api/call-api.ts';
import { getMe, getOrganization, getProject, type ListedRun, runListPaths } from '../api/get-resource.ts';
import { serviceUrl } from '../api/service-url.ts';
import { notWeir } from '../api/to-error.ts';
import { type Counts, countReasons, describeCounts } from '../terminal/bulk-runs.ts';
import { splitScope, UsageError } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, note, oneLine } from '../terminal/print.ts';
import { runTable } from '../terminal/tables.ts';

/** Runs in one request: few enough to finish well before the request times out. */
const PAGE = 25;

export type BulkOptions = FilterOptions & {
  project?: string;
  flow?: string;
  errorCode?: string;
  dryRun?: boolean;
  /** Set by Commander, and not sent to the service. */
  json?: boolean;
};

type Page = z.output<typeof bulkAnswer> & {
  retried?: { executionId: string; repeats: string }[];
  cancelled?: string[];
  refused?: { executionId: string; code: string; errorMessage: string }[];
  stoppedBy?: string | null;
};

type Reason = NonNullable<ListedRun['stuck']>['reason'];

const MEND: { [reason in Reason]: string } = {
  cancelling: 'it was cancelled, but has not ended; ask the operator of the service',
  retrying: 'a block fails repeatedly: see the last error; wait for its next attempt, or cancel the run',
  losing_workers: 'a block lost its workers repeatedly; ask the operator of the service, or cancel the run',
  waiting:
    'no worker has started its next block, because workers are busy or down; it continues automatically',
};

const ERROR_MAX_CHARS = 80;

/** The filter options of the commands that list or change runs. */
type FilterOptions = {
  status?: string;
  mode?: string;
  environment?: string;
  version?: number;
  key?: string;
  since?: Date;
  until?: Date;
};

type ListOptions = FilterOptions & {
  minCost?: string;
  id?: string;
  stuck?: boolean;
  limit: number;
};

/** Lists the runs of an organization, project or flow, newest first. Without a path, lists all runs that the caller can see. */
export async function list(
  path: string | undefined,
  { limit, ...options }: ListOptions,
): Promise<CommandResult> {
  const { status, mode, environment, version, key, since, until, minCost, id, stuck } = options;
  const filter = { status, mode, environment, version, key, since, until, minCost, id, stuck };
  const found: ListedRun[] = [];
  for (const { url, flow } of await placesOf(path))
    found.push(...(await listAll<ListedRun>(url, 'runs', { limit, query: { ...filter, flow } })));
  if (found.length === 0 && path !== undefined) await requireFlow(path);
  const runs = found.sort((a, b) => b.startedAt.localeCompare(a.startedAt)).slice(0, limit);
  return { json: runs, text: stuck ? stuckTable(runs) : runTable(runs) };
}

/** Throws NOT_FOUND if the path names a flow that does not exist. The project's list of runs is only empty then. */
async function requireFlow(path: string): Promise<void> {
  const names = path.split('/').map(encodeURIComponent);
  if (names.length === 3)
    await callApi('GET', `/api/v1/seq/${names.join('/')}/runs`, { query: { limit: 1 } });
}

/** Finds the URLs of the lists with the runs of a path; without a path, of all lists. Throws for a misspelled path. */
async function placesOf(path: string | undefined): Promise<{ url: string; flow?: string }[]> {
  if (path === undefined) return (await runListPaths()).map((url) => ({ url }));
  const { organization = '', project, flow } = splitScope(path);
  if (project === undefined)
    return [{ url: `/api/v1/organizations/${(await getOrganization(organization)).id}/runs` }];
  const { id } = await getProject(`${organization}/${project}`);
  return [{ url: `/api/v1/projects/${id}/runs`, ...(flow !== undefined && { flow }) }];
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

/**
 * Retries or cancels the runs that the options select, except runs that start later. Can be interrupted and repeated: the
 * service retries and cancels no run twice.
 */
export async function changeRuns(how: 'retry' | 'cancel', options: BulkOptions): Promise<CommandResult> {
  const { project, flow, ...filter } = options;
  const place = await getProjectAndFlow(project, flow);
  const counts: Counts = { done: [], matching: [], refused: [], stoppedBy: null };
  const body = { until: new Date(), ...filter, ...(place.flow && { flow: place.flow }), limit: PAGE };
  let cursor: string | null = null;
  do {
    const page: Page = await callApi<Page>('POST', `/api/v1/projects/${place.projectId}/runs/${how}`, {
      body: { ...body, ...(cursor && { cursor }) },
    }).catch((error: unknown) => {
      if (counts.done.length > 0) note(describeCounts(how, counts, filter.dryRun));
      throw error;
    });
    if (typeof page?.hasMore !== 'boolean') throw notWeir(serviceUrl());
    const { retried = [], cancelled = [], matching = [], refused = [], stoppedBy = null } = page;
    counts.done.push(...retried, ...cancelled.map((executionId) => ({ executionId })));
    counts.matching.push(...matching);
    counts.refused.push(...refused);
    counts.stoppedBy = stoppedBy;
    cursor = page.nextCursor;
    if (cursor && !stoppedBy) note(`${describeCounts(how, counts, filter.dryRun)} So far …`);
  } while (cursor && !counts.stoppedBy);
  if (counts.stoppedBy) process.exitCode = 1;
  return {
    json: counts,
    text: [
      ...counts.matching,
      describeCounts(how, counts, filter.dryRun),
      ...countReasons(counts.refused),
    ].join('\n'),
  };
}

/** Gets the project and flow that the options name, by default the project of the API key. Throws UsageError without a project. */
async function getProjectAndFlow(project?: string, path = '') {
  const at = path.lastIndexOf('/');
  const [ofFlow, slug] = [path.slice(0, Math.max(at, 0)), path.slice(at + 1)];
  if (project && ofFlow && project !== ofFlow)
    throw new UsageError(`--project ${project} and --flow ${path} name different projects.`);
  const within = ofFlow || project || process.env.WEIR_PROJECT;
  const flow = slug || undefined;
  if (within) return { projectId: (await getProject(within)).id, flow };
  const me = await getMe();
  if (me.kind === 'api_key') return { projectId: me.project.id, flow };
  throw new UsageError('Name the project: --project org/project, or --flow org/project/flow.');
}
