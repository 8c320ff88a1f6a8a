// Finds a page of a list of runs without scanning other runs.
import { type RawBuilder, sql } from 'kysely';
import {
  type Environment,
  OPEN_RUN_STATUSES,
  RUN_MODES,
  RUN_OUTCOMES,
  type RunMode,
  type RunOutcomeName,
  type RunStatus,
} from '../schema.ts';
import { idRange } from './id-range.ts';
import { statusOfRun } from './run-columns.ts';
import { selectStuckCalls } from './stuck-calls.ts';

const ENVIRONMENTS: Environment[] = ['live', 'test'];
/** The values of the column `outcome`. */
const ALL_OUTCOMES: string[] = [...OPEN_RUN_STATUSES, ...RUN_OUTCOMES];

export const RUN_ORDERS = ['newest', 'oldest'] as const;
type RunOrder = (typeof RUN_ORDERS)[number];

/** Absent fields match every run; organization, project and flow are slugs. */
export type RunFilter = {
  flowId?: string | undefined;
  /** Runs of deleted projects never match these two. Runs of deleted flows match only with `open`. */
  projectId?: string | undefined;
  organizationId?: string | undefined;
  organization?: string | undefined;
  project?: string | undefined;
  flow?: string | undefined;
  status?: RunStatus | undefined;
  outcome?: RunOutcomeName | undefined;
  /** true: only runs that have not ended; no effect with a status. Not together with `id`. */
  open?: boolean | undefined;
  /** true: only runs that make no progress, as `selectStuckCalls` finds them. */
  stuck?: boolean | undefined;
  mode?: RunMode | undefined;
  environment?: Environment | undefined;
  /** A published version; for runs of drafts see `listRunPage`. */
  version?: number | undefined;
  /**
   * The key_id of the API key that started the run. Together with `version`, a list scans runs: see `listRunPage`.
   */
  key?: string | undefined;
  /** The beginning of the executionId. */
  id?: string | undefined;
  /** The bulk retry that started the run. */
  bulk_id?: string | undefined;
  /** Only these runs. Not together with `id` or `bulk_id`. */
  among?: string[] | undefined;
  /** A part of the executionId, which a scan of the ids of all other matching runs finds. Not together with `stuck`. */
  idPart?: string | undefined;
  /** The value of the column `error_group`. Together with `version` or `key`, a list scans runs: see `listRunPage`. */
  error_group?: string | undefined;
  /** Started at this time or later. */
  since?: Date | undefined;
  /** Started before this time. */
  until?: Date | undefined;
  /** executionId of the last run of the previous page. */
  after?: string | undefined;
  /** By start; newest first by default. */
  order?: RunOrder | undefined;
  limit: number;
};

/** A filter of runs without the size of a page. */
export type RunConditions = Omit<RunFilter, 'limit'>;

/** Selects the ids of the first runs that match: of the newest, unless the filter asks for the oldest. */
export function selectRunPage(filter: RunFilter): RawBuilder<string> {
  const { status, outcome, open, stuck, id, bulk_id: bulkId, among, limit } = filter;
  const mayBeResumed =
    outcome === undefined && (status === 'started' || (status === undefined && open === true));
  const first =
    filter.order === 'oldest'
      ? sql`order by started_at, execution_id limit ${limit}`
      : sql`order by started_at desc, execution_id desc limit ${limit}`;
  const sources =
    stuck === true
      ? [selectAmongStarted(filter, selectStuckRuns(filter))]
      : id !== undefined || bulkId !== undefined || among !== undefined
        ? [selectById(filter)]
        : [selectOfFlows(filter, first), ...(mayBeResumed ? [selectResumed(filter)] : [])];
  return sql`
    select execution_id from (${sql.join(sources, sql` union all `)}) as found ${first}`;
}

/**
 * Selects the first runs of each flow. With a filter, selects the first of each remaining combination of outcome,
 * mode and environment, which an index finds whatever else the flow has. One scan in order of time would cross all
 * runs of the flow to find the few that match.
 */
function selectOfFlows(filter: RunFilter, first: RawBuilder<unknown>) {
  const { mode, environment, version, key, error_group: errorGroup } = filter;
  const select = (where: RawBuilder<boolean>) => sql`
    select run.execution_id, run.started_at from run
    where ${where} and ${hasIdPart(filter)} ${first}`;
  const fields = [outcomesOf(filter), mode, environment, version, key, errorGroup];
  if (fields.some((field) => field !== undefined)) return selectOfKinds(filter, select);
  return sql`
    select page.* from (${selectFlows(filter)}) as flow
    cross join lateral (
      ${select(sql`run.continues is null and run.flow_id = flow.id and ${wasStarted(filter)}`)}) as page`;
}

/** Puts together what `select` selects of the runs of each flow, outcome, mode and environment, which an index finds. */
export function selectOfKinds(
  filter: RunConditions,
  select: (where: RawBuilder<boolean>) => RawBuilder<unknown>,
) {
  const { mode, environment, version, key, error_group: errorGroup } = filter;
  const outcomes = outcomesOf(filter);
  const ofKind = sql<boolean>`
    run.continues is null
    and ${version === undefined ? sql`run.flow_id = flow.id` : sql`run.flow_version_id = flow_version.id`}
    and ${isOfKey(key)} and ${equals('run.error_group', errorGroup)}
    and run.outcome = kind.outcome and run.mode = kind.mode and run.environment = kind.environment
    and ${standsAsRecorded(filter)} and ${wasStarted(filter)}`;
  return sql`
    select page.* from (${selectFlows(filter)}) as flow
    ${version === undefined ? sql`` : sql`join flow_version on flow_version.flow_id = flow.id and flow_version.version = ${version}`}
    cross join (
      select * from unnest(${outcomes ?? ALL_OUTCOMES}::text[]) as outcome,
        unnest(${mode ? [mode] : [...RUN_MODES]}::text[]) as mode,
        unnest(${environment ? [environment] : ENVIRONMENTS}::text[]) as environment
    ) as kind
    cross join lateral (${select(ofKind)}) as page`;
}

/** Returns the values of the column `outcome` that a filter selects; undefined for all. */
function outcomesOf({ status, outcome, open, error_group: errorGroup }: RunConditions): string[] | undefined {
  if (errorGroup !== undefined && !outcome && !status) return ['failed', 'refused'];
  if (outcome) return status === undefined || statusOf(outcome) === status ? [outcome] : [];
  if (status) return ALL_OUTCOMES.filter((each) => statusOf(each) === status);
  return open ? [...OPEN_RUN_STATUSES] : undefined;
}

function statusOf(outcome: string): string {
  return outcome === 'cancelled' || outcome === 'refused' ? 'failed' : outcome;
}

/** Selects runs that waited or ended and count as started because a later call is; without runs selected before. */
function selectResumed(filter: RunFilter) {
  const left =
    filter.status === 'started'
      ? sql`run.status <> 'started'`
      : sql`run.status <> all (${OPEN_RUN_STATUSES})`;
  return selectAmong(filter, selectContinued(filter), left);
}

/** Selects the runs with a later call in flight that was not cancelled. */
function selectContinued(filter: RunConditions) {
  return sql`
    select call.continues from run as call
    where call.flow_id in (${selectFlows(filter)}) and call.continues is not null and call.status = 'started'
      and call.cancel_requested_at is null`;
}

/**
 * Whether a run counts as its own row says. Only runs with later calls may differ: their ids are found once, and the
 * rest is in the indexes.
 */
function standsAsRecorded(filter: RunConditions) {
  const { status, outcome, error_group: errorGroup } = filter;
  if (errorGroup === undefined && outcome === undefined && (status === undefined || status === 'started'))
    return sql`true`;
  return sql`(run.mode <> 'step' and run.status <> 'tool_calls_required'
    or run.execution_id not in (${selectContinued(filter)}))`;
}

function selectStuckRuns(filter: RunFilter) {
  return selectFirst(sql`
    select "executionId" from (${selectStuckCalls(isCallIn(filter, 'run'))}) as stuck`);
}

/**
 * Makes PostgreSQL find these ids once, before their runs: otherwise it might find them again for each run of a flow.
 */
function selectFirst(ids: RawBuilder<unknown>) {
  return sql`select unnest(array(${ids}))`;
}

/** Whether a call belongs to a flow of the filter. The projects are for the index `run_open_by_project`. */
function isCallIn(filter: RunFilter, call: 'run' | 'call') {
  const flows = selectFlows(filter);
  return sql`${sql.ref(call)}.flow_id in (${flows})
    and ${sql.ref(call)}.project_id = any (array(select distinct project_id from flow where id in (${flows})))`;
}

/** These runs are in flight, whatever their first calls waited for. */
function selectAmongStarted(filter: RunFilter, ids: RawBuilder<unknown>) {
  const { status, outcome, id = '' } = filter;
  const isAsked = sql`${outcome === undefined && (status === undefined || status === 'started')}::boolean`;
  return selectAmong(
    filter,
    ids,
    sql`${isAsked} and starts_with(run.execution_id::text, ${id.toLowerCase()})`,
  );
}

/** Selects the runs whose ids begin with a text, that a bulk retry started, or that are named. */
function selectById(filter: RunFilter) {
  const { status, outcome, id, among } = filter;
  const range = idRange(id ?? '');
  const named = among
    ? sql`select unnest(${among}::uuid[])`
    : sql`select execution_id from run as begun where bulk_id = ${filter.bulk_id}`;
  const ids =
    id === undefined
      ? named
      : range
        ? sql`select execution_id from run as begun where execution_id between ${range.first} and ${range.last}`
        : sql`select null::uuid`;
  const isAsked = [
    ...(status === undefined ? [] : [sql`${statusOfRun()} = ${status}`]),
    ...(outcome === undefined ? [] : [sql`run.outcome = ${outcome} and ${statusOfRun()} <> 'started'`]),
  ];
  return selectAmong(filter, ids, isAsked.length === 0 ? sql`true` : sql.join(isAsked, sql` and `));
}

function selectAmong(filter: RunFilter, ids: RawBuilder<unknown>, which: RawBuilder<unknown>) {
  const { mode, environment, version, key, error_group: errorGroup, bulk_id: bulkId } = filter;
  return sql`
    select run.execution_id, run.started_at from run
    where run.continues is null and run.execution_id in (${ids}) and ${which}
      and ${hasIdPart(filter)} and ${equals('run.error_group', errorGroup)}
      and ${bulkId === undefined ? sql`true` : sql`run.bulk_id = ${bulkId}`}
      and run.flow_id in (${selectFlows(filter)})
      and ${equals('run.mode', mode)} and ${equals('run.environment', environment)}
      and ${isOfKey(key)}
      and ${version === undefined ? sql`true` : sql`run.flow_version_id in (select id from flow_version where version = ${version})`}
      and ${wasStarted(filter)}`;
}

function hasIdPart({ idPart }: RunFilter) {
  return idPart === undefined ? sql`true` : sql`strpos(run.execution_id::text, ${idPart.toLowerCase()}) > 0`;
}

export function equals(column: string, value: string | undefined) {
  return value === undefined ? sql`true` : sql`${sql.ref(column)} = ${value}`;
}

export function isOfKey(key: string | undefined) {
  return key === undefined ? sql`true` : sql`run.key_id is not null and run.key_id = ${key}`;
}

export function wasStarted({ since, until, after, order }: RunConditions) {
  const conditions = [
    ...(since === undefined ? [] : [sql`run.started_at >= ${since}`]),
    ...(until === undefined ? [] : [sql`run.started_at < ${until}`]),
    // Compared in the database, whose times are more precise than a Date.
    ...(after === undefined
      ? []
      : [
          sql`(run.started_at, run.execution_id) ${order === 'oldest' ? sql`>` : sql`<`}
            (select started_at, execution_id from run where execution_id = ${after})`,
        ]),
  ];
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

export function selectFlows({
  flowId,
  projectId,
  organizationId,
  organization,
  project,
  flow,
  open,
}: RunConditions) {
  if (flowId !== undefined) return sql`select ${flowId}::uuid as id`;
  const scope =
    projectId !== undefined
      ? sql`project.id = ${projectId}::uuid`
      : organizationId !== undefined && sql`organization.id = ${organizationId}::uuid`;
  const ofScope = scope
    ? sql`${scope} and (flow.deleted_at is null or ${open === true}) and project.deleted_at is null`
    : sql`true`;
  return sql`
    select flow.id from flow
    join project on project.id = flow.project_id
    join organization on organization.id = project.organization_id
    where ${ofScope} and ${equals('organization.slug', organization)}
      and ${equals('project.slug', project)} and ${equals('flow.slug', flow)}`;
}
