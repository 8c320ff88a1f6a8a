// Failed runs that failed alike, and the runs of each hour: what the list of runs has above it.
import { sql } from 'kysely';
import type { RunError } from '../../flow/run.ts';
import type { Db } from '../connect.ts';
import type { RunOutcomeName } from '../schema.ts';
import {
  equals,
  isOfKey,
  type RunFilter,
  selectFlows,
  selectOfKinds,
  wasStarted,
} from './select-run-page.ts';

/** The fields of a filter that an index finds. */
export type CountedFilter = Pick<
  RunFilter,
  'projectId' | 'flow' | 'version' | 'mode' | 'environment' | 'key' | 'outcome' | 'since' | 'until'
> & { error_group?: string | undefined };

/** Runs of a flow that failed alike. `error` and `execution_id`: of the newest. `block`: the name of the failed block. */
export type ErrorGroup = {
  error_group: string;
  flow: string;
  runs: number;
  first_started_at: Date;
  last_started_at: Date;
  execution_id: string;
  error: RunError;
  block: string | null;
};

/** Lists the `limit` groups with the most failed runs. Reads an index of all failed runs. */
export async function listErrorGroups(
  db: Db,
  filter: CountedFilter & { limit: number },
): Promise<ErrorGroup[]> {
  const { version, mode, environment, key, outcome, error_group: errorGroup, limit } = filter;
  const matches = sql`run.continues is null and ${equals('run.outcome', outcome)}
    and ${equals('run.mode', mode)} and ${equals('run.environment', environment)} and ${isOfKey(key)}
    and ${version === undefined ? sql`true` : sql`run.flow_version_id in (select id from flow_version where version = ${version})`}
    and ${wasStarted(filter)}`;
  const { rows } = await sql<ErrorGroup>`
    with counted as (
      select run.flow_id, run.error_group, count(*) as runs, min(run.started_at) as first_started_at,
        max(run.started_at) as last_started_at
      from run where run.flow_id in (${selectFlows(filter)}) and run.error_group is not null
        and ${equals('run.error_group', errorGroup)} and ${matches}
      group by run.flow_id, run.error_group
      order by runs desc, last_started_at desc, run.error_group limit ${limit}
    )
    select counted.error_group, flow.slug as flow, counted.runs, counted.first_started_at, counted.last_started_at,
      newest.execution_id, newest.error, (
        select block_run.name from block_run
        where block_run.execution_id in (newest.execution_id, newest.concluded_by) and block_run.status = 'failed'
          and block_run.step_id = newest.step_id
        limit 1
      ) as block
    from counted join flow on flow.id = counted.flow_id cross join lateral (
      select run.execution_id, run.concluded_by, run.error,
        substring(run.error::text from '"step_id": ?"([^"]*)"') as step_id
      from run where run.flow_id = counted.flow_id and run.error_group = counted.error_group
        and run.started_at = counted.last_started_at and ${matches}
      limit 1
    ) as newest
    order by counted.runs desc, counted.last_started_at desc, counted.error_group`.execute(db);
  return rows;
}

/** The runs that started in the hour from `hour` on, by how they ended. `open`: they have not ended. */
export type HourOfRuns = { hour: Date; open: number } & { [outcome in RunOutcomeName]: number };

/** Counts the runs of each hour, in order, without hours that have none. Reads an index of the runs between the two times. */
export async function countRunsByHour(
  db: Db,
  filter: CountedFilter & { since: Date; until: Date },
): Promise<HourOfRuns[]> {
  const counted = selectOfKinds(
    filter,
    (where) => sql`
      select date_trunc('hour', run.started_at at time zone 'UTC') at time zone 'UTC' as hour, run.outcome, count(*) as runs
      from run where ${where} group by 1, 2`,
  );
  const ended = ['completed', 'failed', 'cancelled', 'refused'].map(
    (outcome) =>
      sql`coalesce(sum(runs) filter (where outcome = ${outcome}), 0)::bigint as ${sql.ref(outcome)}`,
  );
  const { rows } = await sql<HourOfRuns>`
    select hour, ${sql.join(ended)},
      coalesce(sum(runs) filter (where outcome not in ('completed', 'failed', 'cancelled', 'refused')), 0)::bigint as open
    from (${counted}) as counted group by hour order by hour`.execute(db);
  return rows;
}
