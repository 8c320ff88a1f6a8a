import { sql } from 'kysely';
import { DRAFT_VERSION } from '../../flow/definition.ts';
import type { Db } from '../connect.ts';
import { type ListedRun, listRuns, listRunsById } from './list-runs.ts';
import { type RunFilter, selectRunPage } from './select-run-page.ts';

/** How many runs are looked through for one page where no index finds those that match. */
const LOOKED_THROUGH_MAX = 500;
/** After so many block executions, whose costs are added up, no further run is looked at. */
const LOOKED_THROUGH_MAX_BLOCKS = 20_000;

type Seen = { id: string; cost: number; blocks: number; version: number; errorCode: string | null };

/**
 * Lists a page of runs as `listRuns` does, of those that have cost at least `minMicrocredits` and failed with `errorCode`.
 * `next`: the run after which the next page begins; null on the last page. Where no index finds the runs that match (by their
 * cost, by their error, by key and version together, of drafts), a page looks through a bounded number of runs and of their
 * blocks, and may hold fewer than `limit`, or none, with a `next` all the same.
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
  const byIndex = { ...filter, version: looksAtVersion ? undefined : version };
  const seen = await lookThrough(db, byIndex, minMicrocredits > 0);
  const found = seen.filter(
    (run) =>
      run.cost >= minMicrocredits &&
      (!looksAtVersion || run.version === version) &&
      (errorCode === undefined || run.errorCode === errorCode),
  );
  const ids = found.slice(0, limit).map(({ id }) => id);
  const end = seen.at(-1);
  const isCut = seen.length === LOOKED_THROUGH_MAX || (end?.blocks ?? 0) >= LOOKED_THROUGH_MAX_BLOCKS;
  const last = found.length > limit ? ids.at(-1) : isCut ? end?.id : undefined;
  return { runs: ids.length > 0 ? await listRunsById(db, ids) : [], next: last ?? null };
}

/**
 * Lists the newest runs that a filter finds by index, with what it does not look at. `blocks`: how many block executions were read
 * up to this run, to add up costs; the list ends where these are many.
 */
async function lookThrough(db: Db, filter: RunFilter, hasCosts: boolean) {
  // Subqueries of one run each, which are never carried out by a walk over all runs.
  const { rows } = await sql<Seen>`
    with recursive page as materialized (
      select array(${selectRunPage({ ...filter, limit: LOOKED_THROUGH_MAX })}) as ids
    ), seen as (
      select 0 as place, 0::bigint as cost, 0::bigint as blocks
      union all
      select seen.place + 1, run.cost, seen.blocks + run.blocks
      from seen cross join lateral (
        select coalesce(sum(block_run.cost_microcredits), 0)::bigint as cost, count(*) as blocks
        from block_run where ${hasCosts} and block_run.execution_id in (
          select call.execution_id from run as call
          where call.execution_id = ((select ids from page))[seen.place + 1]
            or call.continues = ((select ids from page))[seen.place + 1])) as run
      where seen.place < cardinality((select ids from page)) and seen.blocks < ${LOOKED_THROUGH_MAX_BLOCKS}
    )
    select looked.id, looked.cost, looked.blocks,
      (select coalesce(flow_version.version, ${sql.lit(DRAFT_VERSION)}) from run
        join flow_version on flow_version.id = run.flow_version_id
        where run.execution_id = looked.id) as version,
      (select run.error->>'code' from run where run.execution_id = looked.id) as "errorCode"
    from (select seen.*, ((select ids from page))[seen.place] as id from seen) as looked
    where looked.place > 0
    order by looked.place`.execute(db);
  return rows;
}
