// db/usage holds the usage of organizations, as sums by day that stay when runs are deleted. A change of a run's
// status adds a note (the trigger run_changed, in the statement that ends the run). This file adds each note to the
// sums, once.
import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../connect.ts';
import { versionOfRun } from '../runs/run-columns.ts';

/**
 * Each class reaches 1.2 times as far as the one before, so that its middle is at most 10 % from a measured value.
 * Percentiles are computed from the classes.
 */
const RATIO = sql.lit(1.2);

/** Requests that a rate limit rejected: their tenant and number. `keyId` is '' for users. */
export type RateLimited = { organizationId: string; projectId: string; keyId: string; count: number };

/** The subject of rows that count runs, rejected requests, or code with costs; otherwise it is a model. */
export const RUNS = 'runs';
export const REFUSED = 'refused';
export const CODE = 'code';
/** The flow of rows without one. */
export const NO_FLOW = '00000000-0000-0000-0000-000000000000';

/** Adds up to `limit` notes to the sums; returns the number. Several processes may share the work. */
export async function countUsage(db: Db, limit: number): Promise<number> {
  return addNotes(db, sql`select ctid from usage_pending limit ${limit} for update skip locked`);
}

/** Adds all notes of these calls to the sums, before their rows are deleted. */
export async function countUsageOf(tx: Tx, callIds: string[]): Promise<void> {
  await addNotes(
    tx,
    sql`select ctid from usage_pending where execution_id = any (${callIds}::uuid[]) for update`,
  );
}

/**
 * A run counts on the day of its end, and its latency only if it never waited for its caller. A block execution
 * counts once its call has ended: until then it could be repeated.
 */
async function addNotes(db: Db | Tx, notes: RawBuilder<unknown>): Promise<number> {
  // A run that was cancelled while it waited has no call that ended it.
  const waited = sql`run.mode = 'step' or run.concluded_by is not null or run.finished_at is null or exists (
    select from block_run where block_run.execution_id = run.execution_id and block_run.status = 'paused')`;
  const runMs = sql`extract(epoch from run.finished_at - run.started_at) * 1000`;
  const { rows } = await sql<{ noted: number }>`
    with note as (
      delete from usage_pending where ctid = any (array(${notes})) returning *
    ), called as (
      select note.*, run.organization_id, run.project_id, run.flow_id, ${versionOfRun()} as version,
        coalesce(run.key_id, '') as key_id, case when ${waited} then -1 else ${latencyClass(runMs)} end as latency
      from note join run on run.execution_id = note.execution_id
        join flow_version on flow_version.id = run.flow_version_id
    ), fact as (
      select organization_id, (at at time zone 'UTC')::date as day, project_id, flow_id, version, key_id,
        ${sql.lit(RUNS)} as subject, latency::smallint, runs as count, failures, cancelled,
        refused, 0 as prompt_tokens, 0 as cached_tokens, 0 as cache_write_tokens, 0 as completion_tokens,
        0 as reasoning_tokens, 0::bigint as microcredits
      from called where runs <> 0 or failures <> 0 or cancelled <> 0 or refused <> 0
      union all
      select organization_id, (block.finished_at at time zone 'UTC')::date, project_id, flow_id, version, key_id,
        coalesce(block.model, ${sql.lit(CODE)}), ${latencyClass(sql`block.latency_ms`)}::smallint, 1,
        (block.status = 'failed')::int, 0, 0, block.prompt_tokens, block.cached_tokens, block.cache_write_tokens,
        block.completion_tokens, block.reasoning_tokens, block.cost_microcredits
      from called join block_run as block on block.execution_id = called.execution_id
      where called.call_ended and block.status <> 'cancelled'
        and (block.model is not null or block.cost_microcredits > 0)
    ), added as (
      insert into usage (organization_id, day, project_id, flow_id, version, key_id, subject, latency, count, failures,
        cancelled, refused, prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens,
        microcredits)
      select organization_id, day, project_id, flow_id, version, key_id, subject, latency, sum(count), sum(failures),
        sum(cancelled), sum(refused), sum(prompt_tokens), sum(cached_tokens), sum(cache_write_tokens),
        sum(completion_tokens), sum(reasoning_tokens), sum(microcredits)
      from fact group by 1, 2, 3, 4, 5, 6, 7, 8 order by 1, 2, 3, 4, 5, 6, 7, 8
      on conflict on constraint usage_pkey do update
        set count = usage.count + excluded.count, failures = usage.failures + excluded.failures,
          cancelled = usage.cancelled + excluded.cancelled, refused = usage.refused + excluded.refused,
          prompt_tokens = usage.prompt_tokens + excluded.prompt_tokens,
          cached_tokens = usage.cached_tokens + excluded.cached_tokens,
          cache_write_tokens = usage.cache_write_tokens + excluded.cache_write_tokens,
          completion_tokens = usage.completion_tokens + excluded.completion_tokens,
          reasoning_tokens = usage.reasoning_tokens + excluded.reasoning_tokens,
          microcredits = usage.microcredits + excluded.microcredits
    )
    select count(*)::int as noted from note`.execute(db);
  return rows[0]?.noted ?? 0;
}

/** Adds rejected requests, of any number of callers, to today's usage. */
export async function addRateLimited(db: Db, requests: RateLimited[]): Promise<void> {
  // In order, because processes that lock the same rows in different orders would deadlock.
  await sql`
    insert into usage (organization_id, day, project_id, flow_id, version, key_id, subject, latency, count, failures,
      prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens, microcredits)
    select organization_id, (now() at time zone 'UTC')::date, project_id, ${NO_FLOW}::uuid, 0, key_id, ${REFUSED}, -1,
      count, 0, 0, 0, 0, 0, 0, 0
    from unnest(${requests.map(({ organizationId }) => organizationId)}::uuid[],
      ${requests.map(({ projectId }) => projectId)}::uuid[], ${requests.map(({ keyId }) => keyId)}::text[],
      ${requests.map(({ count }) => count)}::bigint[]) as refused (organization_id, project_id, key_id, count)
    order by organization_id, project_id, key_id
    on conflict on constraint usage_pkey do update set count = usage.count + excluded.count`.execute(db);
}

/** The class of a latency in milliseconds. */
function latencyClass(ms: RawBuilder<unknown>): RawBuilder<number> {
  return sql`ceil(ln(greatest(1, ${ms})) / ln(${RATIO}))`;
}

/** The latency in the middle of a class, in whole milliseconds. */
export function latencyOf(latencyClass: RawBuilder<unknown>): RawBuilder<number> {
  return sql`round(power(${RATIO}, ${latencyClass} - 0.5))::bigint`;
}
