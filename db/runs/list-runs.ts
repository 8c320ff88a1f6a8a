// Lists of runs: of every organization for operators, and of a flow, project or organization for callers.
import { type RawBuilder, sql } from 'kysely';
import { DRAFT_VERSION } from '../../flow/definition.ts';
import type { Db } from '../connect.ts';
import { readableJson } from '../stored-values/find-brought-outputs.ts';
import {
  costOfRun,
  RUN_COLUMNS,
  repeatedBy,
  statusOfRun,
  versionOfRun,
  withoutEarlierEnd,
} from './run-columns.ts';
import { type RunFilter, selectRunPage } from './select-run-page.ts';

/** Maximum number of runs scanned for one page when no index finds the matching runs. */
export const LOOKED_THROUGH_MAX = 500;

/** Maximum number of runs that a search looks through for one page. */
export const SEARCHED_MAX = 2_000;

/** A search does not look at messages of requests that take more bytes in the database. */
export const SEARCHED_REQUEST_MAX_BYTES = 16 * 1024;

/** A part of an executionId that is long enough to be meant as one. */
const ID_PART = /^[0-9a-f-]{8,36}$/i;

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
    .select(RUN_COLUMNS)
    .select([
      'run.organization_id',
      'run.project_id',
      'organization.slug as organization',
      'project.slug as project',
      'flow.slug as flow',
    ])
    .select([repeatedBy, statusOfRun().as('status'), versionOfRun().as('version')]);
}

/**
 * Lists a page of runs as `listRunsById` does, limited to runs that cost at least `minMicrocredits`, failed with
 * `errorCode`, and have the text `search` in their message or error, in any case. A `search` that may be a part of an
 * executionId, and is, finds these runs only. `next`: the run after which the next page begins; null on the last page.
 * A page scans a limited number of block executions and, when no index finds the matching runs (by cost, by error, by
 * text, by key and version together, of drafts), of runs: it may have fewer than `limit` runs, or none, and still a
 * `next`.
 */
export async function listRunPage(
  db: Db,
  { search, ...filter }: RunListFilter,
): Promise<{ runs: ListedRun[]; next: string | null }> {
  if (search === undefined) return lookFor(db, filter);
  if (ID_PART.test(search)) {
    const { after: _, ...ofAnyPage } = filter;
    // Also for later pages, whose runs are found in the same way as those of the first.
    const { runs } = await listFound(db, { ...ofAnyPage, idPart: search, limit: 1 });
    if (runs.length > 0) return lookFor(db, { ...filter, idPart: search });
  }
  return lookFor(db, { ...filter, search });
}

export type RunListFilter = RunFilter & {
  minMicrocredits?: number | undefined;
  errorCode?: string | undefined;
  search?: string | undefined;
};

async function lookFor(
  db: Db,
  { search, ...filter }: RunListFilter,
): Promise<{ runs: ListedRun[]; next: string | null }> {
  const { minMicrocredits = 0, errorCode, error_group: errorGroup, key, version, limit } = filter;
  const looksAtKey = key !== undefined && errorGroup !== undefined;
  const looksAtVersion =
    version !== undefined && (key !== undefined || errorGroup !== undefined || version === DRAFT_VERSION);
  const isIndexed = minMicrocredits === 0 && errorCode === undefined && search === undefined;
  if (isIndexed && !looksAtKey && !looksAtVersion) return listFound(db, filter);
  const lookedThroughMax = search === undefined ? LOOKED_THROUGH_MAX : SEARCHED_MAX;
  const byIndex = {
    ...filter,
    key: looksAtKey ? undefined : key,
    version: looksAtVersion ? undefined : version,
    limit: lookedThroughMax,
  };
  const seen = await lookThrough(db, byIndex, minMicrocredits > 0, search);
  const found = seen.filter(
    (run) =>
      run.cost >= minMicrocredits &&
      (!looksAtKey || run.keyId === key) &&
      (!looksAtVersion || run.version === version) &&
      (errorCode === undefined || run.errorCode === errorCode) &&
      run.hasText,
  );
  const ids = found.slice(0, limit).map(({ id }) => id);
  const end = seen.at(-1);
  const isCut = seen.length === lookedThroughMax || (end?.blocks ?? 0) >= BLOCKS_MAX;
  const last = found.length > limit ? ids.at(-1) : isCut ? end?.id : undefined;
  const runs = ids.length > 0 ? await listRunsById(db, ids) : [];
  return { runs: filter.order === 'oldest' ? runs.reverse() : runs, next: last ?? null };
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

/** Lists the first runs that a filter finds by index, with what it does not look at. */
async function lookThrough(db: Db, filter: RunFilter, hasCosts: boolean, search: string | undefined) {
  type Looked = { version: number; keyId: string | null; errorCode: string | null; hasText: boolean };
  const { rows } = await sql<Seen & Looked>`
    select looked.*, run.*
    from ${walk(filter, hasCosts)} as looked cross join lateral (
      select ${versionOfRun()} as version, run.key_id as "keyId",
        ${readableJson('run.error')} ->> 'code' as "errorCode", ${hasText(search)} as "hasText"
      from run join flow_version on flow_version.id = run.flow_version_id
      where run.execution_id = looked.id) as run
    order by looked.place`.execute(db);
  return rows;
}

/** Whether the id, message, error or error code of a run has this text. Large requests are not looked at. */
function hasText(search: string | undefined): RawBuilder<boolean> {
  if (search === undefined) return sql`true`;
  const isIn = (text: RawBuilder<unknown>) =>
    sql`coalesce(strpos(lower(${text}), lower(${search})) > 0, false)`;
  return sql`(
    ${isIn(sql`run.execution_id::text`)} or ${isIn(sql`${readableJson('run.error')} ->> 'message'`)}
    or ${isIn(sql`${readableJson('run.error')} ->> 'code'`)}
    or case when pg_column_size(run.input) <= ${SEARCHED_REQUEST_MAX_BYTES} then
      ${isIn(sql`${readableJson('run.input')} ->> 'message'`)} else false end)`;
}

/** Selects the first runs that a filter finds by index, with costs where asked; ends after many blocks. */
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
