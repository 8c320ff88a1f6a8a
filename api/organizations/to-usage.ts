import { CODE } from '../../db/usage/count-usage.ts';
import type { UsageDimension, UsageRow } from '../../db/usage/find-usage.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';

/** The dimension of an entry, and the flow to which the query is limited. */
type Asked = { by?: UsageDimension; flowId?: string | undefined };

/** Describes the sums of a row; null for sums that do not apply. */
export function toUsage(row: UsageRow, { by, flowId }: Asked) {
  const ofModels = by === 'model';
  return {
    credits: row.microcredits / MICROCREDITS_PER_CREDIT,
    modelCalls: row.model_calls,
    failedModelCalls: row.failed_model_calls,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    modelLatencyMs: toLatency(row.model_p50, row.model_p95, row.model_p99),
    runs: ofModels ? null : row.runs,
    failedRuns: ofModels ? null : row.failed_runs,
    runLatencyMs: toLatency(row.run_p50, row.run_p95, row.run_p99),
    refused: flowId || by === 'flow' || by === 'version' || ofModels ? null : row.refused,
  };
}

/** Describes a row with its subject. */
export function toUsageEntry(row: UsageRow, asked: Asked & { by: UsageDimension }) {
  return { ...nameOf(row, asked.by), ...toUsage(row, asked) };
}

function nameOf({ id, version, name, project }: UsageRow, by: UsageDimension) {
  switch (by) {
    case 'day':
      return { day: id };
    case 'project':
      return { projectId: id, name };
    case 'flow':
      return { flowId: id, name, project };
    case 'version':
      return { flowId: id, version, name, project };
    case 'model':
      return { model: id === CODE ? null : id };
    case 'key':
      return { keyId: id || null, name, project };
  }
}

function toLatency(p50: number | null, p95: number | null, p99: number | null) {
  return p50 === null ? null : { p50, p95, p99 };
}
