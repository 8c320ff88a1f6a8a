// Reads the usage of an organization, by day, project, flow, version, model or API key.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connect.ts';
import { CODE, latencyOf, NO_FLOW, REFUSED, RUNS } from './count-usage.ts';
import type { UsageDimension } from './usage-dimensions.ts';

/** `from` and `to` are days, both included. */
export type UsageFilter = {
  organizationId: string;
  projectId?: string | undefined;
  flowId?: string | undefined;
  from: string;
  to: string;
};

/** Sums of usage. Latencies are in milliseconds, and null without a measurement. */
export type UsageRow = {
  /** The day, the id of the project or flow, the model (`code` for code with costs), or the key_id; '' for users. */
  id: string;
  version: number;
  /** The slug of the project or flow, or the name of the key. */
  name: string | null;
  /** The slug of the project of the flow or key. */
  project: string | null;
  microcredits: number;
  runs: number;
  failed_runs: number;
  cancelled_runs: number;
  refused_runs: number;
  model_calls: number;
  failed_model_calls: number;
  prompt_tokens: number;
  cached_tokens: number;
  cache_write_tokens: number;
  completion_tokens: number;
  reasoning_tokens: number;
  refused: number;
} & { [percentile in `${'run' | 'model'}_${'p50' | 'p95' | 'p99'}`]: number | null };

type Sql = RawBuilder<unknown>;
/** `none`: the ids of counted rows that belong to no group. */
type Grouping = { id: Sql; version?: Sql; none?: string[]; name?: Sql; project?: Sql; order?: Sql };

const IS_RUNS = sql`subject = ${sql.lit(RUNS)}`;
const IS_REFUSED = sql`subject = ${sql.lit(REFUSED)}`;
const IS_MODEL = sql`subject = 'models'`;

const FLOWS = {
  id: sql`flow_id`,
  none: [NO_FLOW],
  name: sql`(select slug from flow where flow.id = sums.id)`,
  project: sql`(select slug from project where id = (select project_id from flow where flow.id = sums.id))`,
};
const GROUPINGS: { [by in UsageDimension]: Grouping } = {
  day: { id: sql`day`, order: sql`id` },
  project: { id: sql`project_id`, name: sql`(select slug from project where project.id = sums.id)` },
  flow: FLOWS,
  version: { ...FLOWS, version: sql`version` },
  model: { id: sql`subject`, none: [RUNS, REFUSED] },
  key: {
    id: sql`key_id`,
    name: sql`(select name from api_key where key_id = sums.id)`,
    project: sql`(select slug from project where id = (select project_id from api_key where key_id = sums.id))`,
  },
};
const MOST_CREDITS_FIRST = sql`microcredits desc, runs desc, id, version`;

/**
 * Finds the total, and a page of the sums: of each day, in order, or of each other group, the most credits first.
 * Reads the organization's rows once; the rest is about as many as groups and classes of latencies.
 */
export async function findUsage(
  db: Db,
  { organizationId, projectId, flowId, from, to }: UsageFilter,
  { by, offset, limit }: { by: UsageDimension; offset: number; limit: number },
): Promise<{ total: UsageRow; rows: UsageRow[] }> {
  const grouping: Grouping = GROUPINGS[by];
  const { id, version = sql`0`, none = [], order = MOST_CREDITS_FIRST } = grouping;
  const { name = sql`null`, project = sql`null` } = grouping;
  const { rows } = await sql<UsageRow & { is_total: boolean }>`
    with class as (
      select ${id} as id, ${version} as version, latency,
        case when subject in (${sql.join([RUNS, REFUSED, CODE].map((each) => sql.lit(each)))}) then subject
          else 'models' end as subject,
        sum(count) as count, sum(failures) as failures, sum(cancelled) as cancelled,
        sum(refused) as refused, sum(microcredits) as microcredits,
        sum(prompt_tokens) as prompt_tokens, sum(cached_tokens) as cached_tokens,
        sum(cache_write_tokens) as cache_write_tokens, sum(completion_tokens) as completion_tokens,
        sum(reasoning_tokens) as reasoning_tokens
      from usage
      where organization_id = ${organizationId} and day between ${from}::date and ${to}::date
        and ${projectId === undefined ? sql`true` : sql`project_id = ${projectId}`}
        and ${flowId === undefined ? sql`true` : sql`flow_id = ${flowId}`}
      group by 1, 2, 3, 4
    ), sums as (
      select grouping(id) = 1 as is_total, id, version, ${sum('microcredits')} as microcredits,
        ${sum('count', IS_RUNS)} as runs, ${sum('failures', IS_RUNS)} as failed_runs,
        ${sum('cancelled', IS_RUNS)} as cancelled_runs, ${sum('refused', IS_RUNS)} as refused_runs,
        ${sum('count', IS_MODEL)} as model_calls, ${sum('failures', IS_MODEL)} as failed_model_calls,
        ${sum('prompt_tokens')} as prompt_tokens, ${sum('cached_tokens')} as cached_tokens,
        ${sum('cache_write_tokens')} as cache_write_tokens, ${sum('completion_tokens')} as completion_tokens,
        ${sum('reasoning_tokens')} as reasoning_tokens,
        ${sum('count', IS_REFUSED)} as refused
      from class group by grouping sets ((id, version), ())
    ), placed as (
      select *, row_number() over (partition by is_total order by ${order}) as place from sums
      where is_total or not id::text = any (${none}::text[])
    ), measured as (
      select grouping(id) = 1 as is_total, id, version, subject, latency, sum(count) as count
      from class where latency >= 0 and (${IS_RUNS} or ${IS_MODEL})
      group by grouping sets ((id, version, subject, latency), (subject, latency))
    ), ranked as (
      select *, sum(count) over (partition by is_total, id, version, subject order by latency) as up_to,
        sum(count) over (partition by is_total, id, version, subject) as total
      from measured
    ), percentile as (
      select is_total, id, version,
        ${latencyAt(IS_RUNS, 0.5)} as run_p50, ${latencyAt(IS_RUNS, 0.95)} as run_p95,
        ${latencyAt(IS_RUNS, 0.99)} as run_p99, ${latencyAt(IS_MODEL, 0.5)} as model_p50,
        ${latencyAt(IS_MODEL, 0.95)} as model_p95, ${latencyAt(IS_MODEL, 0.99)} as model_p99
      from ranked group by is_total, id, version
    )
    select sums.*, sums.id::text as id, case when not sums.is_total then ${name} end as name,
      case when not sums.is_total then ${project} end as project,
      run_p50, run_p95, run_p99, model_p50, model_p95, model_p99
    from placed as sums left join percentile on percentile.is_total = sums.is_total
      and (sums.is_total or percentile.id = sums.id and percentile.version = sums.version)
    where sums.is_total or place > ${offset} and place <= ${offset + limit}
    order by place`.execute(db);
  // There is always a row of the empty grouping set.
  const total = rows.find((row) => row.is_total) as UsageRow;
  return { total, rows: rows.filter((row) => !row.is_total) };
}

function sum(column: string, which: Sql = sql`true`): Sql {
  return sql`coalesce(sum(${sql.ref(column)}) filter (where ${which}), 0)::bigint`;
}

function latencyAt(which: Sql, share: number): Sql {
  return latencyOf(sql`min(latency) filter (where ${which} and up_to >= total * ${sql.lit(share)})`);
}
