// The search parameters of the pages of runs, and the API query for the filter of the list.
import { isObject } from '../ui/json/read-json.ts';

/** The search parameters of a run's page: the selected block execution, the view and the list. */
export type RunView = {
  /** The key of the block execution, such as `step#0`; without one the run itself is selected. */
  block?: string;
  /** The call of the execution, unless it is the last one with this key. */
  call?: string;
  view?: 'graph';
  /** The filter of the list that the reader came from; `all` for a project's runs without a filter. */
  list?: RunFilter | 'all';
};

const KEY_LENGTH_MAX = 1_000;

export const STATUSES = ['started', 'tool_calls_required', 'in_progress'] as const;
export const OUTCOMES = ['completed', 'failed', 'cancelled', 'refused'] as const;
export const MODES = ['execute', 'jobs', 'step', 'test'] as const;
export const ENVIRONMENTS = ['live', 'test'] as const;
/** Ranges that end now, in seconds. */
export const RANGES = { '15m': 900, '1h': 3_600, '24h': 86_400, '7d': 604_800, '30d': 2_592_000 } as const;

export type Range = keyof typeof RANGES;

/** The search parameters of the page. `range` counts back from now; `since` and `until` are fixed times. */
export type RunFilter = {
  scope?: 'organization';
  project?: string;
  flow?: string;
  version?: number;
  /** The status of runs that have not ended. */
  status?: (typeof STATUSES)[number];
  outcome?: (typeof OUTCOMES)[number];
  mode?: (typeof MODES)[number];
  environment?: (typeof ENVIRONMENTS)[number];
  key?: string;
  range?: Range;
  since?: string;
  until?: string;
  minCost?: number;
  /** A text of the message or error, or a part of the id. */
  search?: string;
  /** A group of failed runs that failed alike. */
  error_group?: string;
  /** The bulk retry that started the run. */
  bulk_id?: string;
};

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const KEY_ID = /^[A-Za-z0-9]{8}$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ERROR_GROUP = /^[0-9a-f]{12}$/;
export const SEARCH_LENGTH_MIN = 3;
export const SEARCH_LENGTH_MAX = 200;
const VERSION_MAX = 2_147_483_647;
const COST_MAX = 999_999_999;

/** Reads the filter from an address, which anyone may have written. Invalid values are dropped. */
export function parseRunFilter(search: Record<string, unknown>): RunFilter {
  const { scope, project, flow, version, status, mode, environment, key, range, since, until, minCost } =
    search;
  // `status` has the outcomes of runs too: one filter offers both.
  const outcome = OUTCOMES.find((known) => known === search.outcome || known === status);
  return withoutAbsent<RunFilter>({
    scope: scope === 'organization' ? scope : undefined,
    project: scope === 'organization' ? match(project, SLUG) : undefined,
    flow: match(flow, SLUG),
    // Version 0: runs of drafts.
    version: numberIn(version, 0, VERSION_MAX, Number.isInteger),
    status: outcome ? undefined : STATUSES.find((known) => known === status),
    outcome,
    mode: MODES.find((known) => known === mode),
    environment: ENVIRONMENTS.find((known) => known === environment),
    key: match(textOf(key), KEY_ID),
    range: (Object.keys(RANGES) as Range[]).find((known) => known === range),
    since: range === undefined ? momentOf(since) : undefined,
    until: range === undefined ? momentOf(until) : undefined,
    minCost: numberIn(minCost, 0, COST_MAX),
    search: textOf(search.search),
    error_group: match(textOf(search.error_group), ERROR_GROUP),
    bulk_id: match(search.bulk_id, UUID),
  });
}

/** Returns the API query for a filter. A range counts back from `now`. A text is sent once it is long enough. */
export function runQuery(filter: RunFilter, now: number) {
  const { scope: _, range, search, ...rest } = filter;
  return withoutAbsent({
    ...rest,
    since: range ? new Date(now - RANGES[range] * 1_000).toISOString() : rest.since,
    search: search !== undefined && search.length >= SEARCH_LENGTH_MIN ? search : undefined,
  });
}

/** Returns the API query for what is counted above the list: by these filters, apart from the time. */
export function countedQuery({ flow, version, mode, environment, key, outcome, error_group }: RunFilter) {
  return withoutAbsent({
    ...{ flow, mode, environment, key, outcome, error_group },
    version: version === 0 ? undefined : version,
  });
}

/** Returns the names of the filters that limit the list, but not what is counted above it. */
export function uncountedFilters({ status, minCost, search }: RunFilter): string[] {
  return [
    ...(status ? ['status'] : []),
    ...(minCost === undefined ? [] : ['cost']),
    ...(search !== undefined && search.length >= SEARCH_LENGTH_MIN ? ['text'] : []),
  ];
}

/** Whether the filter excludes runs, apart from the scope. */
export function isFiltered({ scope: _, ...filter }: RunFilter): boolean {
  return Object.keys(filter).length > 0;
}

/** Returns why the runs of this filter cannot be retried or cancelled in bulk; undefined when they can. */
export function findBulkObstacle(how: 'retry' | 'cancel', filter: RunFilter): string | undefined {
  const { scope, version, status, outcome, minCost, search } = filter;
  const { bulk_id: bulkId, error_group: errorGroup } = filter;
  const done = how === 'retry' ? 'retried' : 'cancelled';
  if (scope) return `Runs are ${done} in one project at a time: show this project only.`;
  if (how === 'retry' && (status || outcome === 'completed'))
    return 'Only failed or cancelled runs can be retried: filter by Failed or Cancelled.';
  if (how === 'cancel' && (outcome || errorGroup))
    return 'Only runs that have not ended can be cancelled: filter by Running.';
  if (version === 0) return `Runs of the draft cannot be ${done} at once: remove the filter by version.`;
  if (bulkId && how === 'cancel')
    return 'These runs are of one bulk retry, which is cancelled on its own page.';
  if (bulkId) return 'These runs are of one bulk retry: remove this filter to retry runs.';
  if (minCost !== undefined || search !== undefined)
    return `Runs cannot be ${done} by cost or text: remove these two filters.`;
  return undefined;
}

/** Returns a short text of an address. The router parses a text of digits as a number. */
function textOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text.trim() !== '' && text.length <= SEARCH_LENGTH_MAX
    ? text
    : undefined;
}

function match(value: unknown, pattern: RegExp): string | undefined {
  return typeof value === 'string' && pattern.test(value) ? value : undefined;
}

function numberIn(
  value: unknown,
  min: number,
  max: number,
  test: (value: number) => boolean = Number.isFinite,
): number | undefined {
  return typeof value === 'number' && test(value) && value >= min && value <= max ? value : undefined;
}

function momentOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const time = Date.parse(value);
  const year = new Date(time).getUTCFullYear();
  return year >= 1_000 && year <= 9_999 ? new Date(time).toISOString() : undefined;
}

function withoutAbsent<T extends object>(fields: { [Field in keyof T]: T[Field] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

/** Reads the search parameters from an address, which anyone may have written. */
export function parseRunView({ block, call, view, list }: Record<string, unknown>): RunView {
  // The router parses a key of digits as a number.
  const key = typeof block === 'number' ? String(block) : block;
  return {
    ...(typeof key === 'string' && key !== '' && key.length <= KEY_LENGTH_MAX && { block: key }),
    ...(typeof call === 'string' && /^[0-9a-f-]{36}$/.test(call) && { call }),
    ...(view === 'graph' && { view }),
    ...(list === 'all' && { list }),
    ...(isObject(list) && { list: nameList(parseRunFilter(list)) }),
  };
}

/** Returns the parameter `list` for a filter. */
export function nameList(filter: RunFilter): RunFilter | 'all' {
  return Object.keys(filter).length === 0 ? 'all' : filter;
}
