import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { createTimedId } from '../timed-id.ts';
import { isUnderWay } from './blocks-under-way.ts';
import { IS_UNANSWERED } from './stuck-calls.ts';

/** Failures that an operator mends or waits out. */
const OF_PROVIDER = [
  'MODEL_KEY_REJECTED',
  'MODEL_QUOTA_EXCEEDED',
  'MODEL_UNAVAILABLE',
  'MODEL_NOT_CONFIGURED',
];
/** Failures with which a provider, or its answer, ended a call. Other failures of llm blocks come before the call. */
const OF_CALL = [
  ...OF_PROVIDER,
  'BYOK_REJECTED',
  'MODEL_NOT_FOUND',
  'MODEL_REFUSED',
  'MODEL_REQUEST_INVALID',
  'MODEL_SCHEMA_REFUSED',
  'MODEL_OUTPUT_INCOMPLETE',
  'MODEL_OUTPUT_INVALID',
  'PROMPT_TOO_LARGE',
];
export const LAST_CALLS_MINUTES = 15;
const HOUR_MS = 60 * 60 * 1_000;
const CALLS_MAX = 100;
/** Maximum number of block executions scanned, those of the newest calls first. */
const SCANNED_MAX = 5_000;

/** How the last calls of a provider ended. */
export type LastModelCalls = {
  provider: string;
  calls: number;
  failed: number;
  /** The failed ones whose reason is outside flows. */
  ofProvider: number;
  /** Such as `40 MODEL_KEY_REJECTED (status 401), 2 MODEL_UNAVAILABLE (status 429) being repeated`. */
  reasons: string | null;
  /** The most frequent code outside flows. */
  worst: string | null;
};

/**
 * Counts how each provider's last model calls ended: up to 100 in 15 minutes, of runs that began in the last hour. Returns nothing
 * of what a provider said, which may quote a prompt.
 */
export async function findLastModelCalls(db: Db): Promise<LastModelCalls[]> {
  // Ids begin with the time, so the primary key finds the newest. An error may contain \u0000, which only text takes.
  const { rows } = await sql<LastModelCalls>`
    with newest as materialized (
      select model, status, error::text as error, finished_at from block_run
      where execution_id >= ${createTimedId(new Date(Date.now() - HOUR_MS))}
      order by execution_id desc limit ${SCANNED_MAX}
    ), calls as (
      select model, case status when 'failed' then coalesce(substring(error from '"code": ?"([A-Z_]+)"'), '') end as code,
        substring(error from '\\(status (\\d+)\\)') as status,
        null as note, finished_at as at
      from newest
      where model is not null and status in ('completed', 'paused', 'failed')
        and finished_at > now() - ${LAST_CALLS_MINUTES} * interval '1 minute'
      union all
      select model, 'MODEL_UNAVAILABLE', substring(last_error from '\\(status (\\d+)\\)'),
        case when last_error is null then ' without an answer for 2 minutes' else ' being repeated' end, now()
      from block_under_way join run using (execution_id)
      where model is not null and (last_error is not null or ${IS_UNANSWERED}) and ${isUnderWay('run')}
    ), numbered as (
      select *, split_part(model, '/', 1) as provider,
        row_number() over (partition by split_part(model, '/', 1) order by at desc) as number
      from calls where code is null or code = any (${OF_CALL}::text[])
    ), counted as (
      select provider, code, code = any (${OF_PROVIDER}::text[]) as outside, count(*) as count,
        count(*) || ' ' || code || coalesce(' (status ' || status || ')', '') || coalesce(note, '') as reason
      from numbered where number <= ${CALLS_MAX} group by provider, code, status, note
    )
    select provider, sum(count)::int as calls, coalesce(sum(count) filter (where code is not null), 0)::int as failed,
      coalesce(sum(count) filter (where outside), 0)::int as "ofProvider",
      string_agg(reason, ', ' order by count desc, reason) as reasons,
      (array_agg(code order by count desc) filter (where outside))[1] as worst
    from counted group by provider`.execute(db);
  return rows;
}
