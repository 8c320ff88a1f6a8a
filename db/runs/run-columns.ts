// What a run is to its callers beyond its own row: it may go on in continuations. Columns of queries over `run`.
import { type ExpressionBuilder, sql } from 'kysely';
import { DRAFT_VERSION } from '../../flow/definition.ts';
import type { PausePoint } from '../../flow/tool-calls.ts';
import type { RunStatus, Schema } from '../schema.ts';

/** The ids of a row of `run`, which is a call, as `callId`, and of the run it belongs to, as `executionId`. */
export const CALL_IDS = [
  'run.execution_id as callId',
  sql<string>`coalesce(run.continues, run.execution_id)`.as('executionId'),
] as const;

/** Whether a row of `run` is a call of the run that callers know by this id: its first, or one that continues it. */
export function isCallOf(executionId: string) {
  return sql<boolean>`(run.execution_id = ${executionId} or run.continues = ${executionId})`;
}

/** The cost of a run's blocks so far, in microcredits, as `cost_microcredits` of a query over `run`. */
export function costOfRun(eb: ExpressionBuilder<Schema, 'run'>) {
  return eb
    .selectFrom('block_run')
    .select(sql<number>`coalesce(sum(cost_microcredits), 0)::bigint`.as('sum'))
    .where('block_run.execution_id', 'in', (query) =>
      query
        .selectFrom('run as part')
        .select('part.execution_id')
        .where((part) =>
          part.or([
            part('part.execution_id', '=', part.ref('run.execution_id')),
            part('part.continues', '=', part.ref('run.execution_id')),
          ]),
        ),
    )
    .$asScalar()
    .$notNull()
    .as('cost_microcredits');
}

/** A run that waited for its caller, who has come back, is under way again; as `status` of a query over `run`. */
export function statusOfRun() {
  return sql<RunStatus>`case when run.status in ('tool_calls_required', 'in_progress') and exists (
    select from run part where part.continues = run.execution_id and part.status = 'started'
  ) then 'started' else run.status end`;
}

/** Whether a run waits for an operator, in whichever call carries it out; as `parked` of a query over `run`. */
export function isParked() {
  return sql<boolean>`exists (
    select from run part where part.parked_at is not null and part.status = 'started'
    and (part.execution_id = run.execution_id or part.continues = run.execution_id)
  )`;
}

/** Where a run waits for its caller's tools, in the call that was the last to carry it out; as `pause` of a query over `run`. */
export function pauseOfRun() {
  return sql<PausePoint | null>`case when run.status in ('tool_calls_required', 'in_progress') then (
    select last.pause from run last where last.execution_id = coalesce(run.concluded_by, run.execution_id)
  ) end`;
}

/** The number of a run's version, that of drafts for a test run; as `version` of a query over `flow_version`. */
export function versionOfRun() {
  return sql<number>`coalesce(flow_version.version, ${sql.lit(DRAFT_VERSION)})`;
}
