import { listRunPage } from '../../db/runs/list-run-page.ts';
import { hasRun, type ListedRun, type RunScope } from '../../db/runs/list-runs.ts';
import { findStuckRuns, type StuckRun } from '../../db/runs/stuck-calls.ts';
import type { ApiDeps } from '../deps.ts';
import { unknownCursor } from '../http/page.ts';
import type { RunListQuery } from './run-list-query.ts';

/**
 * Reads a page of the runs of a flow, project or organization. Throws VALIDATION_ERROR for a cursor of another list.
 */
export async function readRunPage(
  { db }: Pick<ApiDeps, 'db'>,
  scope: RunScope,
  { cursor, minCost, ...filter }: RunListQuery,
): Promise<{
  runs: (ListedRun & { stuck?: StuckRun | undefined })[];
  hasMore: boolean;
  nextCursor: string | null;
}> {
  if (cursor !== undefined && !(await hasRun(db, scope, cursor))) throw unknownCursor();
  const query = { ...scope, ...filter, after: cursor, minMicrocredits: minCost };
  const { runs, next } = await listRunPage(db, query);
  const end = { hasMore: next !== null, nextCursor: next };
  if (!query.stuck || runs.length === 0) return { runs, ...end };
  const found = await findStuckRuns(
    db,
    runs.map((run) => run.execution_id),
  );
  return { runs: runs.map((run) => ({ ...run, stuck: found.get(run.execution_id) })), ...end };
}
