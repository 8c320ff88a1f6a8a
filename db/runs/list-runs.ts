// Lists of runs: of every organization for operators, and of a flow, project or organization for callers.
import { type RawBuilder, sql } from 'kysely';
import { DRAFT_VERSION } from '../../flow/definition.ts';
import type { Db } from '../connect.ts';
import { readableJson } from '../stored-values/find-brought-outputs.ts';
import { costOfRun, repeatedBy, statusOfRun, versionOfRun, withoutEarlierEnd } from './run-columns.ts';
import { type RunFilter, selectRunPage } from './select-run-page.ts';

/** Maximum number of runs scanned for one page when no index finds the matching runs. */
export const LOOKED_THROUGH_MAX = 500;

/** After so many block executions, whose costs are added up, no further run is looked at. */
export const BLOCKS_MAX = 20_000;

/** `place`: 1 for the newest. `blocks`: the number of block executions up to this run. */
type Seen = { place: number; id: string; cost: number; blocks: number };

/**
 * Lists those of these runs that exist, newest first, each with all its calls and the cost of their blocks in microcredits,
 * however many there are.
 */
export async function listRunsById(db: Db, executionIds: string[]) {
  const rows = await selectRuns(db)
    .select(costOfRun)
    .where(sql<boolean>`run.execution_id = any (${executionIds}::uuid[])`)
    .where('run.continues', 'is', null)
    .orderBy('run.started_at', 'desc')
    .orderBy('run.execution_id', 'desc')
    .execute();
  return rows.map(withoutEarlierEnd);
}
export type ListedRun = Awaited<ReturnType<typeof listRunsById>>[number];

/** All runs of one flow, project or organization, or of the service. */
export type RunScope =
  | { flowId: string }
  | { projectId: string }
  | { organizationId: string }
  | { all: true };

/** Whether a run is in this scope. */
export async function hasRun(db: Db, scope: RunScope, executionId: string): Promise<boolean> {
  const [column, id] =
    'flowId' in scope
      ? (['flow_id', scope.flowId] as const)
      : 'projectId' in scope
        ? (['project_id', scope.projectId] as const)
        : 'organizationId' in scope
          ? (['organization_id', scope.organizationId] as const)
          : [];
  const row = await db
    .selectFrom('run')
    .select('execution_id')
    .where('execution_id', '=', executionId)
    .where('continues', 'is', null)
    .$if(column !== undefined, (query) => query.where(column as 'flow_id', '=', id as string))
    .executeTakeFirst();
  return row !== undefined;
}

/** Selects runs with the columns for callers, except their cost. */
function selectRuns(db: Db) {
  return db
    .selectFrom('run')
    .innerJoin('organization', 'organization.id', 'run.organization_id')
    .innerJoin('project', 'project.id', 'run.project_id')
    .innerJoin('flow', 'flow.id', 'run.flow_id')
    .innerJoin('flow_version', 'flow_version.id', 'run.flow_version_id')
    .select([
      'run.execution_id',
      'run.organization_id',
      'run.project_id',
      'run.flow_id',
      'run.flow_version_id',
      'organization.slug as organization',
      'project.slug as project',
      'flow.slug as flow',
      'run.mode',
      'run.environment',
      'run.key_id',
      'run.started_by',
      'run.repeats',
      'run.first_attempt',
      'run.trace_context',
      'run.error',
      'run.cancel_requested_at',
      'run.cancelled_by',
      'run.outcome',
      'run.started_at',
      'run.finished_at',
      'flow_version.block_count',
    ])
    .select([repeatedBy, statusOfRun().as('status'), versionOfRun().as('version')]);
}

/**
 * Lists a page of runs as `listRunsById` does, limited to runs that cost at least `minMicrocredits` and failed with
 * `errorCode`. `next`: the run after which the next page begins; null on the last page. A page scans a limited number
 * of block executions and, when no index finds the matching runs (by cost, by error, by key and version together, of
 * drafts), of runs: it may have fewer than `limit` runs, or none, and still a `next`.
 */
export async function listRunPage(
  db: Db,
  filter: RunFilter & { minMicrocredits?: number | undefined; errorCode?: string | undefined },
): Promise<{ runs: ListedRun[]; next: string | null }> {
  const { minMicrocredits = 0, errorCode, key, version, limit } = filter;
  const looksAtVersion = version !== undefined && (key !== undefined || version === DRAFT_VERSION);
  if (minMicrocredits === 0 && errorCode === undefined && !looksAtVersion) return listFound(db, filter);
  const byIndex = { ...filter, version: looksAtVersion ? undefined : version, limit: LOOKED_THROUGH_MAX };
  const seen = await lookThrough(db, byIndex, minMicrocredits > 0);
  const found = seen.filter(
    (run) =>
      run.cost >= minMicrocredits &&
      (!looksAtVersion || run.version === version) &&
      (errorCode === undefined || run.errorCode === errorCode),
  );
  const ids = found.slice(0, limit).map(({ id }) => id);
  const end = seen.at(-1);
  const isCut = seen.length === LOOKED_THROUGH_MAX || (end?.blocks ?? 0) >= BLOCKS_MAX;
  const last = found.length > limit ? ids.at(-1) : isCut ? end?.id : undefined;
  return { runs: ids.length > 0 ? await listRunsById(db, ids) : [], next: last ?? null };
}

/** Lists a page of the runs that a filter finds by index. */
async function listFound(db: Db, filter: RunFilter): Promise<{ runs: ListedRun[]; next: string | null }> {
  const rows = await selectRuns(db)
    .innerJoin(walk({ ...filter, limit: filter.limit + 1 }, true).as('seen'), 'seen.id', 'run.execution_id')
    .select(['seen.cost as cost_microcredits', 'seen.blocks'])
    .orderBy('seen.place')
    .execute();
  const runs = rows.slice(0, filter.limit).map(({ blocks, ...run }) => withoutEarlierEnd(run));
  const isCut = rows.length > runs.length || (rows.at(-1)?.blocks ?? 0) >= BLOCKS_MAX;
  return { runs, next: (isCut && runs.at(-1)?.execution_id) || null };
}

/** Lists the newest runs that a filter finds by index, with what it does not look at. */
async function lookThrough(db: Db, filter: RunFilter, hasCosts: boolean) {
  const { rows } = await sql<Seen & { version: number; errorCode: string | null }>`
    select looked.*,
      (select ${versionOfRun()} from run
        join flow_version on flow_version.id = run.flow_version_id
        where run.execution_id = looked.id) as version,
      (select ${readableJson('run.error')} ->> 'code' from run where run.execution_id = looked.id) as "errorCode"
    from ${walk(filter, hasCosts)} as looked
    order by looked.place`.execute(db);
  return rows;
}

/** Selects the newest runs that a filter finds by index, with costs where asked; ends after many blocks. */
function walk(filter: RunFilter, hasCosts: boolean): RawBuilder<Seen> {
  // Without costs, an index alone has the number of blocks.
  const cost = hasCosts ? sql`coalesce(sum(block_run.cost_microcredits), 0)::bigint` : sql`0::bigint`;
  // Subqueries of one run each, so that no plan scans all runs.
  return sql`(
    with recursive page as materialized (
      select array(${selectRunPage(filter)}) as ids
    ), seen as (
      select 0 as place, 0::bigint as cost, 0::bigint as blocks
      union all
      select seen.place + 1, run.cost, seen.blocks + run.blocks
      from seen cross join lateral (
        select ${cost} as cost, count(*) as blocks
        from block_run where block_run.execution_id in (
          select call.execution_id from run as call
          where call.execution_id = ((select ids from page))[seen.place + 1]
            or call.continues = ((select ids from page))[seen.place + 1])) as run
      where seen.place < cardinality((select ids from page)) and seen.blocks < ${BLOCKS_MAX}
    )
    select seen.*, ((select ids from page))[seen.place] as id from seen where seen.place > 0
  )`;
}
