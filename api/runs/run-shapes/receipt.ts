import { z } from 'zod';
import type { Db } from '../../../db/connect.ts';
import { BLOCK_RUN_BYTES, countBlockRuns, listBlockRuns } from '../../../db/runs/block-runs.ts';
import { MICROCREDITS_PER_CREDIT } from '../../../flow/credit-amount.ts';
import type { FlowDefinition } from '../../../flow/definition.ts';
import { PROCESSOR_TYPES } from '../../../flow/definition.ts';
import { eachStep } from '../../../flow/step-path.ts';
import { SMALL_BYTES } from '../../../platform/limits/byte-budget.ts';
import { errorCode } from '../../http/headers.ts';
import { queryBoolean } from '../../http/query.ts';
import { describeBlockExecution } from './describe-block-execution.ts';

const count = z.int().min(0);

export const iterations = z
  .array(count)
  .optional()
  .meta({ description: 'Inside loops: the iteration of each of them, outermost first, from 0.' });

const usage = z
  .object({
    promptTokens: count,
    completionTokens: count,
    cost: z.number().meta({ description: 'In credits.' }),
    ms: count.meta({ description: 'Milliseconds that the last attempt of the block took.' }),
  })
  .meta({ id: 'Usage' });

export const blockRun = z
  .object({
    step_id: z.string(),
    key: z.string().meta({ description: 'The step_id; in loops with the iteration: `step#0`.' }),
    iterations,
    name: z.string(),
    processor_type: z.enum(PROCESSOR_TYPES),
    status: z.enum(['completed', 'failed', 'paused']),
    attempts: count,
    model: z.string().nullable(),
    code: errorCode.optional().meta({ description: 'On failed.' }),
    errorMessage: z.string().optional(),
    usage,
  })
  .meta({ id: 'BlockRun', description: 'One execution of a block.' });

export const receipt = {
  cost: z.number().meta({ description: 'The credits that the run has cost.' }),
  blocks: z
    .array(blockRun)
    .meta({ description: 'What each block execution used, in the order they started.' }),
};

/** A query parameter with which a caller omits the receipt. */
export const receiptParameter = queryBoolean(true, '`false` leaves out what each block execution used.');

/** Returns the size of a run's receipt in bytes. */
export async function measureReceipt(db: Db, executionId: string): Promise<number> {
  return BLOCK_RUN_BYTES * (await countBlockRuns(db, executionId));
}

/** Whether a run of the flow may execute so many blocks that its receipt is large. */
export function mayRunMany(definition: FlowDefinition): boolean {
  let bytes = 0;
  for (const { step } of eachStep(definition)) {
    bytes += BLOCK_RUN_BYTES;
    if (step.type === 'loop' || bytes >= SMALL_BYTES) return true;
  }
  return false;
}

/** Reads the costs of a run and its block executions, in credits; up to the call `until`, when given. */
export async function readReceipt(db: Db, executionId: string, until?: string) {
  return toReceipt(await listBlockRuns(db, executionId, until));
}

/** Makes a receipt: the costs of block executions and their sum, in credits. */
export function toReceipt(rows: Awaited<ReturnType<typeof listBlockRuns>>) {
  const microcredits = rows.reduce((sum, row) => sum + row.cost_microcredits, 0);
  return { cost: microcredits / MICROCREDITS_PER_CREDIT, blocks: rows.map(describeBlockExecution) };
}
