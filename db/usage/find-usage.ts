// Reads what an organization has used, by day, project, flow, version, model or API key.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connect.ts';
import { CODE, REFUSED, RUNS } from './count-usage.ts';
import { latencyOf } from './latency-classes.ts';

export const USAGE_DIMENSIONS = ['day', 'project', 'flow', 'version', 'model', 'key'] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/** `from` and `to` are days, both included. */
export type UsageFilter = {
  organizationId: string;
  projectId?: string | undefined;
  flowId?: string | undefined;
  from: string;
  to: string;
};

/** Sums of usage; latencies are in milliseconds, and null where none was measured. */
export type UsageRow = {
  /** The day, the id of the project or flow, the model (`code` for code that costs credits), or the key_id; '' for users. */
  id: string;
  version: number;
  /** The slug of the project or flow, or the name of the key. */
  name: string | null;
  microcredits: number;
  runs: number;
  failed_runs: number;
  model_calls: number;
  failed_model_calls: number;
  prompt_tokens: number;
  completion_tokens: number;
  refused: number;
} & { [percentile in `${'run' | 'model'}_${'p50' | 'p95' | 'p99'}`]: number | null };

type Sql = RawBuilder<unknown>;
type Grouping = { id: Sql; version?: Sql; where?: Sql; name?: Sql; order?: Sql };

const IS_RUNS = sql`subject = ${sql.lit(RUNS)}`;
const IS_REFUSED = sql`subject = ${sql.lit(REFUSED)}`;
const IS_MODEL = sql`subject not in (${sql.lit(RUNS)}, ${sql.lit(REFUSED)}, ${sql.lit(CODE)})`;

const FLOWS = {
  id: sql`flow_id::text`,
  where: sql`not ${IS_REFUSED}`,
  name: sql`(select slug from flow where flow.id = sums.id::uuid)`,
};
const GROUPINGS: { [by in UsageDimension]: Grouping } = {
  day: { id: sql`day::text`, order: sql`sums.id` },
  project: {
    id: sql`project_id::text`,
    name: sql`(select slug from project where project.id = sums.id::uuid)`,
  },
  flow: FLOWS,
  version: { ...FLOWS, version: sql`version` },
  model: { id: sql`subject`, where: sql`not ${IS_RUNS} and not ${IS_REFUSED}` },
  key: { id: sql`key_id`, name: sql`(select name from api_key where api_key.key_id = sums.id)` },
};
const MOST_CREDITS_FIRST = sql`sums.microcredits desc, sums.runs desc, sums.id, sums.version`;

/** Lists the sums of each day in order, or of each of the others, the most credits first. */
export function listUsage(
  db: Db,
  filter: UsageFilter,
  { by, ...page }: { by: UsageDimension; offset: number; limit: number },
): Promise<UsageRow[]> {
  return selectSums(db, filter, GROUPINGS[by], page);
}

/** Sums everything up. */
export async function sumUsage(db: Db, filter: UsageFilter): Promise<UsageRow> {
  const [row] = await selectSums(db, filter, { id: sql`''` }, { offset: 0, limit: 1 });
  return row ?? NOTHING;
}

const NOTHING: UsageRow = {
  ...{ id: '', version: 0, name: null, microcredits: 0, runs: 0, failed_runs: 0, model_calls: 0 },
  ...{ failed_model_calls: 0, prompt_tokens: 0, completion_tokens: 0, refused: 0 },
  ...{ run_p50: null, run_p95: null, run_p99: null, model_p50: null, model_p95: null, model_p99: null },
};

async function selectSums(
  db: Db,
  { organizationId, projectId, flowId, from, to }: UsageFilter,
  { id, version = sql`0`, where = sql`true`, name = sql`null`, order = MOST_CREDITS_FIRST }: Grouping,
  { offset, limit }: { offset: number; limit: number },
): Promise<UsageRow[]> {
  const { rows } = await sql<UsageRow>`
    with picked as (
      select ${id} as id, ${version} as version, subject, latency, count, failures, prompt_tokens, completion_tokens,
        microcredits
      from usage
      where organization_id = ${organizationId} and day between ${from}::date and ${to}::date and ${where}
        and ${projectId === undefined ? sql`true` : sql`project_id = ${projectId}`}
        and ${flowId === undefined ? sql`true` : sql`flow_id = ${flowId}`}
    ), sums as (
      select id, version, ${sum('microcredits')} as microcredits,
        ${sum('count', IS_RUNS)} as runs, ${sum('failures', IS_RUNS)} as failed_runs,
        ${sum('count', IS_MODEL)} as model_calls, ${sum('failures', IS_MODEL)} as failed_model_calls,
        ${sum('prompt_tokens')} as prompt_tokens, ${sum('completion_tokens')} as completion_tokens,
        ${sum('count', IS_REFUSED)} as refused
      from picked group by id, version
    ), class as (
      select id, version, ${IS_RUNS} as is_runs, latency, sum(count) as count
      from picked where latency >= 0 and (${IS_RUNS} or ${IS_MODEL}) group by 1, 2, 3, 4
    ), ranked as (
      select *, sum(count) over (partition by id, version, is_runs order by latency) as up_to,
        sum(count) over (partition by id, version, is_runs) as total
      from class
    ), percentile as (
      select id, version,
        ${latencyAt('is_runs', 0.5)} as run_p50, ${latencyAt('is_runs', 0.95)} as run_p95,
        ${latencyAt('is_runs', 0.99)} as run_p99, ${latencyAt('not is_runs', 0.5)} as model_p50,
        ${latencyAt('not is_runs', 0.95)} as model_p95, ${latencyAt('not is_runs', 0.99)} as model_p99
      from ranked group by id, version
    )
    select sums.*, ${name} as name, run_p50, run_p95, run_p99, model_p50, model_p95, model_p99
    from sums left join percentile on percentile.id = sums.id and percentile.version = sums.version
    order by ${order} limit ${limit} offset ${offset}`.execute(db);
  return rows;
}

function sum(column: string, which: Sql = sql`true`): Sql {
  return sql`coalesce(sum(${sql.ref(column)}) filter (where ${which}), 0)::bigint`;
}

function latencyAt(which: 'is_runs' | 'not is_runs', share: number): Sql {
  return latencyOf(sql`min(latency) filter (where ${sql.raw(which)} and up_to >= total * ${sql.lit(share)})`);
}
