// The receipt of a run: what each block execution took and cost.
import { z } from 'zod';
import type { Db } from '../../db/connect.ts';
import { MICROCREDITS_PER_CREDIT } from '../../db/credits/ledger.ts';
import { listBlockRuns } from '../../db/runs/block-runs.ts';
import { describeBlockExecution } from './describe-block-execution.ts';

const count = z.int().min(0);

const usage = z
  .object({
    promptTokens: count,
    completionTokens: count,
    cost: z.number().meta({ description: 'In credits.' }),
    ms: count.meta({ description: 'Milliseconds the block took, its last attempt.' }),
  })
  .meta({ id: 'Usage' });

export const blockRun = z
  .object({
    step_id: z.string(),
    key: z.string().meta({ description: 'step_id, in loops with the iterations: `step#0`.' }),
    name: z.string(),
    processor_type: z.enum(['llm', 'passthrough', 'code']),
    status: z.enum(['completed', 'failed', 'paused']),
    attempts: count,
    model: z.string().nullable(),
    errorMessage: z.string().optional(),
    usage,
  })
  .meta({ id: 'BlockRun', description: 'One execution of a block.' });

export const receipt = {
  cost: z.number().meta({ description: 'Credits the run has cost.' }),
  blocks: z
    .array(blockRun)
    .meta({ description: 'What each block execution took, in the order they started.' }),
};

/** What a run has cost, in credits, and each of its block executions; up to the call `until`, where given. */
export async function readReceipt(db: Db, executionId: string, until?: string) {
  return toReceipt(await listBlockRuns(db, executionId, until));
}

/** What these block executions have cost, in credits, and each of them. */
export function toReceipt(rows: Awaited<ReturnType<typeof listBlockRuns>>) {
  const microcredits = rows.reduce((sum, row) => sum + row.cost_microcredits, 0);
  return { cost: microcredits / MICROCREDITS_PER_CREDIT, blocks: rows.map(describeBlockExecution) };
}
