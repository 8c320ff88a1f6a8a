import { SERVICE } from '../../../db/runs/run-cancellation.ts';
import type { RunRow } from '../../../db/runs/runs.ts';
import type { RunOutcomeName, RunStatus } from '../../../db/schema.ts';
import { MICROCREDITS_PER_CREDIT } from '../../../flow/credit-amount.ts';
import type { RunError } from '../../../flow/run.ts';
import { type TraceContext, traceIdOf } from '../../../platform/observability/tracing.ts';
import type { ApiDeps } from '../../deps.ts';

type DescribedRow = Omit<RunRow, 'result' | 'pause' | 'concluded_by'>;

/** Describes a run for callers, without its result and blocks. `cost` is in credits, so far. */
export async function describeRun({ definitions }: Pick<ApiDeps, 'definitions'>, run: DescribedRow) {
  const { flowId, ...state } = describeState(run);
  const blockCount = run.block_count ?? (await definitions.countBlocks(run.flow_version_id));
  return { flowId, blockCount, ...state };
}

/** Describes a run as `describeRun` does, without the number of blocks, which may require loading the flow. */
export function describeState(run: DescribedRow) {
  return {
    executionId: run.execution_id,
    status: run.status,
    ...outcomeField(run),
    ...(run.error && describeRunError(run.error)),
    ...(run.cancel_requested_at && {
      cancelledBy: run.cancelled_by ?? SERVICE,
      cancelledAt: run.cancel_requested_at.toISOString(),
    }),
    flowId: run.flow_id,
    version: run.version,
    mode: run.mode,
    environment: run.environment,
    keyId: run.key_id,
    startedBy: run.started_by,
    repeats: run.repeats,
    repeatedBy: run.repeated_by,
    bulk_id: run.bulk_id,
    ...traceIdField(run.trace_context),
    startedAt: run.started_at.toISOString(),
    finishedAt: run.finished_at?.toISOString() ?? null,
    durationMs: run.finished_at ? run.finished_at.getTime() - run.started_at.getTime() : null,
    cost: run.cost_microcredits / MICROCREDITS_PER_CREDIT,
  };
}

/** Returns the `outcome` of a run that has ended. */
export function outcomeField({ status, outcome }: { status: RunStatus; outcome: string }): {
  outcome?: RunOutcomeName;
} {
  return status === 'completed' || status === 'failed' ? { outcome: outcome as RunOutcomeName } : {};
}

/** Describes why and where a run failed, for callers and operators. */
export function describeRunError({ code, message, reason, step_id, iterations }: RunError) {
  return {
    code,
    ...(step_id !== undefined && { step_id }),
    ...(iterations && { iterations }),
    errorMessage: message,
    failureReason: reason,
  };
}

/** Returns the field with the trace id of a run; {} where tracing was off. */
export function traceIdField(trace: TraceContext | null | undefined): { traceId?: string } {
  const traceId = traceIdOf(trace);
  return traceId === undefined ? {} : { traceId };
}
