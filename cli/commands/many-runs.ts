// `weir runs list`, and `weir runs retry` and `cancel` for all runs that a filter finds, page by page.

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

/** So few that a page is carried out well within the time that a request may take. */
const PAGE = 25;

export type BulkOptions = FilterOptions & {
  project?: string;
  flow?: string;
  errorCode?: string;
  dryRun?: boolean;
  /** Commander's; the service does not know it. */
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
  parked: 'its workers were lost repeatedly; ask the operator of the service, or cancel it',
  cancelling: 'it was cancelled, and no worker has ended it; ask the operator of the service',
  retrying: 'a block is refused repeatedly: see the last error; it is retried automatically, or cancel it',
  losing_workers: 'workers are lost under a block; ask the operator of the service, or cancel it',
  waiting: 'no worker has begun its next block; workers are busy, away or lost; it continues automatically',
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

/** Lists runs, newest first, of an organization, project or flow, or of all that the caller can reach. */
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

/** Throws NOT_FOUND where the path names a flow that does not exist: the list of a project's runs is empty then. */
async function requireFlow(path: string): Promise<void> {
  const names = path.split('/').map(encodeURIComponent);
  if (names.length === 3)
    await callApi('GET', `/api/v1/seq/${names.join('/')}/runs`, { query: { limit: 1 } });
}

/** Finds the lists that hold the runs of a path, all of them without one. Throws for a misspelled path. */
async function placesOf(path: string | undefined): Promise<{ url: string; flow?: string }[]> {
  if (path === undefined) return (await runListPaths()).map((url) => ({ url }));
  const { organization = '', project, flow } = splitScope(path);
  if (project === undefined)
    return [{ url: `/api/v1/organizations/${(await getOrganization(organization)).id}/runs` }];
  const { id } = await getProject(`${organization}/${project}`);
  return [{ url: `/api/v1/projects/${id}/runs`, ...(flow !== undefined && { flow }) }];
}

/** Formats one row per run that makes no progress, and below what to do about each reason. */
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
 * Carries out `how` for the runs that the options find, as they are when it begins. It may be cut off and repeated: the service
 * retries and cancels no run twice.
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

/** Gets the project, and the flow in it, that the options name; an API key's own project need not be named. */
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
  throw new UsageError('Say in which project: --project org/project, or --flow org/project/flow.');
}
