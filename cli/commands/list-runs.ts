// `weir runs list`, and `weir runs retry` and `cancel` for all runs that a filter finds, page by page.
import { callApi } from '../api/call-api.ts';
import { getOrganization, getProject } from '../api/get-by-path.ts';
import { type ListedRun, runListPaths } from '../api/get-run.ts';
import { listAll } from '../api/list-all.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { runTable } from '../terminal/run-table.ts';
import { splitScope } from '../terminal/split-scope.ts';
import { stuckTable } from '../terminal/stuck-table.ts';

/** The options that say which runs, of those that list them and those that change them. */
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
