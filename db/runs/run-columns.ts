// Columns of queries over `run` that describe a run with all its calls, as callers see it.
import { type ExpressionBuilder, sql } from 'kysely';
import { DRAFT_VERSION } from '../../flow/definition.ts';
import type { PausePoint } from '../../flow/tool-calls.ts';
import type { RunStatus, Schema } from '../schema.ts';

/** The columns of a run and its version that callers see. */
export const RUN_COLUMNS = [
  'run.execution_id',
  'run.flow_id',
  'run.flow_version_id',
  'run.mode',
  'run.environment',
  'run.key_id',
  'run.started_by',
  'run.repeats',
  'run.first_attempt',
  'run.bulk_id',
  'run.trace_context',
  'run.error',
  'run.cancel_requested_at',
  'run.cancelled_by',
  'run.outcome',
  'run.started_at',
  'run.finished_at',
  'flow_version.block_count',
] as const;

/** Selects the id of a row of `run`, which is a call, as `callId`, and the id of its run as `executionId`. */
export const CALL_IDS = [
  'run.execution_id as callId',
  sql<string>`coalesce(run.continues, run.execution_id)`.as('executionId'),
] as const;

/** Whether a row of `run`, or of its alias, is the first or a later call of the run with this id. */
export function isCallOf(executionId: string, alias = 'run') {
  const row = sql.table(alias);
  return sql<boolean>`(${row}.execution_id = ${executionId} or ${row}.continues = ${executionId})`;
}

/** Whether a row of `run` is a later call of a run that was cancelled. */
export function isOfCancelledRun() {
  return sql<boolean>`exists (
    select from run root where root.execution_id = run.continues and root.cancel_requested_at is not null
  )`;
}

/** Selects the cost of a run's blocks so far, in microcredits, as `cost_microcredits`. */
export function costOfRun(eb: ExpressionBuilder<Schema, 'run'>) {
  return eb
    .selectFrom('block_run')
    .select(sql<number>`coalesce(sum(cost_microcredits), 0)::bigint`.as('sum'))
    .where('block_run.execution_id', 'in', (query) =>
      query
        .selectFrom('run as call')
        .select('call.execution_id')
        .where((call) =>
          call.or([
            call('call.execution_id', '=', call.ref('run.execution_id')),
            call('call.continues', '=', call.ref('run.execution_id')),
          ]),
        ),
    )
    .$asScalar()
    .$notNull()
    .as('cost_microcredits');
}

/**
 * Whether a later call of a run that was not cancelled is in flight. The calls of a session may overlap: it may have
 * ended with one while another is in flight.
 */
export function hasLaterCallUnderWay() {
  return sql<boolean>`((run.mode = 'step' or run.status = 'tool_calls_required')
    and run.cancel_requested_at is null and exists (
      select from run call where call.continues = run.execution_id and call.status = 'started'
    ))`;
}

/** The status of a run. A run that waited or ended is in flight again while a later call is. */
export function statusOfRun() {
  return sql<RunStatus>`case when ${hasLaterCallUnderWay()} then 'started' else run.status end`;
}

/** Removes the end of an earlier call of its session from a run in flight. */
export function withoutEarlierEnd<Row extends { status: RunStatus }>(row: Row): Row {
  return row.status === 'started' ? { ...row, result: null, error: null, finished_at: null } : row;
}

/**
 * Selects the newest of the runs that repeat a run, or that repeat the run that it repeats itself, as `repeated_by`; null for
 * the newest one.
 */
export const repeatedBy = sql<string | null>`(
  select nullif(attempt.execution_id, run.execution_id) from run as attempt
  where attempt.first_attempt = coalesce(run.first_attempt, run.execution_id)
  order by attempt.started_at desc, attempt.execution_id desc limit 1
)`.as('repeated_by');

/** The point where a run waits for its caller's tools, in its last call. */
export function pauseOfRun() {
  return sql<PausePoint | null>`case when run.status in ('tool_calls_required', 'in_progress') then (
    select last.pause from run last where last.execution_id = coalesce(run.concluded_by, run.execution_id)
  ) end`;
}

/** The number of a run's version, from `flow_version`; the draft's number for a run of a draft. */
export function versionOfRun() {
  return sql<number>`coalesce(flow_version.version, ${sql.lit(DRAFT_VERSION)})`;
}
