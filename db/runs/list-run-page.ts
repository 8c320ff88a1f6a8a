import { sql } from 'kysely';
import { DRAFT_VERSION } from '../../flow/definition.ts';
import type { Db } from '../connect.ts';
import { type ListedRun, listRuns, listRunsById } from './list-runs.ts';
import { type RunFilter, selectRunPage } from './select-run-page.ts';

/** How many runs are looked through for one page where no index finds those that match. */
const LOOKED_THROUGH_MAX = 500;

/**
 * Lists a page of runs as `listRuns` does, of those that have cost at least `minMicrocredits` and failed with `errorCode`.
 * `next`: the run after which the next page begins; null on the last page. Where no index finds the runs that match (by their
 * cost, by their error, by key and version together, of drafts), a page looks through a bounded number of runs and may hold
 * fewer than `limit`, or none, with a `next` all the same.
 */
export async function listRunPage(
  db: Db,
  filter: RunFilter & { minMicrocredits?: number | undefined; errorCode?: string | undefined },
): Promise<{ runs: ListedRun[]; next: string | null }> {
  const { minMicrocredits = 0, errorCode, key, version, limit } = filter;
  const looksAtVersion = version !== undefined && (key !== undefined || version === DRAFT_VERSION);
  if (minMicrocredits === 0 && errorCode === undefined && !looksAtVersion) {
    const rows = await listRuns(db, { ...filter, limit: limit + 1 });
    const runs = rows.slice(0, limit);
    return { runs, next: (rows.length > limit && runs.at(-1)?.execution_id) || null };
  }
  const seen = await lookThrough(db, { ...filter, version: looksAtVersion ? undefined : version });
  const found = seen.filter(
    (run) =>
      run.cost >= minMicrocredits &&
      (!looksAtVersion || run.version === version) &&
      (errorCode === undefined || run.errorCode === errorCode),
  );
  const ids = found.slice(0, limit).map(({ id }) => id);
  const last = found.length > limit ? ids.at(-1) : seen[LOOKED_THROUGH_MAX - 1]?.id;
  return { runs: ids.length > 0 ? await listRunsById(db, ids) : [], next: last ?? null };
}

/** Lists the newest runs that a filter finds by index, with what it does not look at. */
async function lookThrough(db: Db, filter: RunFilter) {
  // Subqueries of one run each, which are never carried out by a walk over all runs.
  const { rows } = await sql<{ id: string; cost: number; version: number; errorCode: string | null }>`
    select page.execution_id as id,
      (select coalesce(sum(block_run.cost_microcredits), 0)::bigint from block_run where block_run.execution_id in (
        select call.execution_id from run as call
        where call.execution_id = page.execution_id or call.continues = page.execution_id)) as cost,
      (select coalesce(flow_version.version, ${sql.lit(DRAFT_VERSION)}) from run
        join flow_version on flow_version.id = run.flow_version_id
        where run.execution_id = page.execution_id) as version,
      (select run.error->>'code' from run where run.execution_id = page.execution_id) as "errorCode"
    from (${selectRunPage({ ...filter, limit: LOOKED_THROUGH_MAX })}) as page`.execute(db);
  return rows;
}
