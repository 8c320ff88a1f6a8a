import type { listBlockRuns } from '../../../db/runs/block-runs.ts';
import { MICROCREDITS_PER_CREDIT } from '../../../flow/credit-amount.ts';
import { iterationsOf } from '../../../flow/plan.ts';

type BlockRunRow = Awaited<ReturnType<typeof listBlockRuns>>[number];

/**
 * Describes a block execution for callers and operators. `cost` is in credits; `ms` is the duration of the last
 * attempt.
 */
export function describeBlockExecution(row: BlockRunRow) {
  const iterations = iterationsOf(row.block_key);
  return {
    step_id: row.step_id,
    key: row.block_key,
    ...(iterations.length > 0 && { iterations }),
    name: row.name,
    processor_type: row.processor_type,
    status: row.status,
    attempts: row.attempts,
    model: row.model,
    ...(row.error && { code: row.error.code, errorMessage: row.error.message }),
    usage: {
      promptTokens: row.prompt_tokens,
      completionTokens: row.completion_tokens,
      cost: row.cost_microcredits / MICROCREDITS_PER_CREDIT,
      ms: row.latency_ms,
    },
  };
}
