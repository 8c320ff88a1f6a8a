// Stuck calls according to the database: calls in flight without progress.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connect.ts';
import { isUnderWay } from './blocks-under-way.ts';

export const STUCK_REASONS = [
  'cancelling',
  'retrying',
  'crash_looping',
  'waiting_for_model',
  'waiting',
] as const;

const QUIET = sql`now() - interval '2 minutes'`;
const IS_CANCELLING = sql`run.cancel_requested_at < ${QUIET}`;
/** Blocks sometimes need several attempts without being stuck. */
const ATTEMPTS_MIN = 4;
/** Whether workers were lost under a block in flight again and again: an attempt without an error was lost with its worker. */
export const IS_CRASH_LOOPING = sql`(block_under_way.attempts >= ${ATTEMPTS_MIN} and block_under_way.last_error is null)`;
/** Whether a model was asked two minutes ago and has not answered. */
export const IS_UNANSWERED = sql`(block_under_way.processor_type = 'llm' and block_under_way.next_attempt_at is null
  and block_under_way.started_at < ${QUIET})`;
/** Maximum number of calls scanned for one list, oldest first. */
export const LOOKED_AT_MAX = 5_000;

export type StuckRun = {
  executionId: string;
  reason: (typeof STUCK_REASONS)[number];
  since: Date;
  /** The block in flight that keeps the run; the next three fields describe it. */
  block: string | null;
  attempts: number | null;
  lastError: string | null;
  nextAttemptAt: Date | null;
};

/** A run that the database alone shows to be stuck, whatever Temporal says. */
export type CertainlyStuckRun = StuckRun & { reason: Exclude<StuckRun['reason'], 'waiting'> };

/**
 * Selects the calls in flight that match `which` and make no progress, each with the reason and the id of its run.
 */
export function selectStuckCalls(which: RawBuilder<unknown>) {
  return sql`
    select coalesce(run.continues, run.execution_id) as "executionId", stuck.* from (
      select * from run where status = 'started' and ${which} order by started_at, execution_id limit ${LOOKED_AT_MAX}
    ) as run
    left join lateral (
      select name, attempts, last_error, next_attempt_at, started_at, ${IS_UNANSWERED} as unanswered
      from block_under_way
      where block_under_way.execution_id = run.execution_id and ${isUnderWay('run')}
      order by attempts >= ${ATTEMPTS_MIN} desc, unanswered desc, attempts desc, started_at limit 1
    ) as block on true
    cross join lateral (
      select case
          when ${IS_CANCELLING} then 'cancelling'
          -- An attempt without an error was lost with its worker.
          when block.attempts >= ${ATTEMPTS_MIN} then case when block.last_error is null then 'crash_looping' else 'retrying' end
          when block.unanswered then 'waiting_for_model'
          when block.attempts is null and run.started_at < ${QUIET} then 'waiting'
        end as reason,
        coalesce(case when ${IS_CANCELLING} then run.cancel_requested_at end,
          block.started_at, (select max(finished_at) from block_run where execution_id = run.execution_id),
          run.started_at) as since,
        block.name as block, block.attempts, block.last_error as "lastError", block.next_attempt_at as "nextAttemptAt"
    ) as stuck
    where stuck.reason is not null and (stuck.reason <> 'waiting' or stuck.since < ${QUIET})`;
}

/**
 * Finds why these runs make no progress, without runs that do. A run with several stuck calls has one of the reasons.
 */
export async function findStuckRuns(db: Db, executionIds: string[]): Promise<Map<string, StuckRun>> {
  const ids = sql`any (${executionIds}::uuid[])`;
  const { rows } = await selectStuckCalls(sql`(execution_id = ${ids} or continues = ${ids})`).execute(db);
  return new Map((rows as StuckRun[]).map((run) => [run.executionId, run]));
}

/** Lists up to `limit` runs of each reason except `waiting`, about which Temporal knows more. */
export async function listStuckRuns(db: Db, limit: number): Promise<CertainlyStuckRun[]> {
  const ids = sql`
    (select execution_id from run where status = 'started' and ${IS_CANCELLING}
      order by started_at, execution_id limit ${limit})
    union all
    (select run.execution_id from block_under_way join run on run.execution_id = block_under_way.execution_id
      where (block_under_way.attempts >= ${ATTEMPTS_MIN} or ${IS_UNANSWERED}) and ${isUnderWay('run')}
      order by block_under_way.started_at limit ${limit})`;
  const { rows } = await sql<CertainlyStuckRun>`
    select * from (${selectStuckCalls(sql`execution_id = any (array(${ids}))`)}) as stuck
    where reason <> 'waiting'`.execute(db);
  return rows;
}

/** Finds the paths, org/project/flow, of those of these runs that still exist. */
export async function findPathsOfRuns(db: Db, executionIds: string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('run')
    .innerJoin('organization', 'organization.id', 'run.organization_id')
    .innerJoin('project', 'project.id', 'run.project_id')
    .innerJoin('flow', 'flow.id', 'run.flow_id')
    .select([
      'run.execution_id',
      'organization.slug as organization',
      'project.slug as project',
      'flow.slug as flow',
    ])
    .where(sql<boolean>`run.execution_id = any (${executionIds}::uuid[])`)
    .execute();
  return new Map(rows.map((row) => [row.execution_id, `${row.organization}/${row.project}/${row.flow}`]));
}
