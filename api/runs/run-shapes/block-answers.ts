// Shapes of block executions in responses: the receipt of a run, and the values of one block.
import { z } from 'zod';
import type { Db } from '../../../db/connect.ts';
import { BLOCK_RUN_BYTES, countBlockRuns, listBlockRuns } from '../../../db/runs/block-runs.ts';
import { MICROCREDITS_PER_CREDIT } from '../../../flow/credit-amount.ts';
import { type FlowDefinition, PROCESSOR_TYPES } from '../../../flow/definition.ts';
import { LAST_ANSWER_MAX_CHARS } from '../../../flow/limits.ts';
import { iterationsOf } from '../../../flow/plan.ts';
import { eachStep } from '../../../flow/step-path.ts';
import { SMALL_BYTES } from '../../../platform/limits/gates.ts';
import { parsedJson } from '../../flows/written-flow.ts';
import { errorCode } from '../../http/headers.ts';
import { pageOf } from '../../http/page.ts';
import { queryBoolean } from '../../http/query.ts';

type BlockRunRow = Awaited<ReturnType<typeof listBlockRuns>>[number];

export const BLOCK_STATUSES = ['completed', 'failed', 'paused', 'cancelled'] as const;

const count = z.int().min(0);

export const iterations = z
  .array(count)
  .optional()
  .meta({ description: 'Inside loops: the iteration of each of them, outermost first, from 0.' });

const usage = z
  .object({
    promptTokens: count.nullable().meta({ description: 'null: unknown, because the request was aborted.' }),
    completionTokens: count.nullable(),
    cost: z.number().meta({ description: 'In credits.' }),
    uncharged: z.number().optional().meta({
      description:
        'The credits by which the cost exceeded the balance or maxCredits. The operator bears them.',
    }),
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
    status: z.enum(BLOCK_STATUSES).meta({
      description:
        '`cancelled`: it was in flight when the run was cancelled or another block failed. It costs nothing.',
    }),
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

/** Smaller values are included in the response. */
export const SHOWN_MAX_BYTES = 16_384;

const size = z.int().min(0);
const shown = (text: string) =>
  parsedJson.meta({ description: `${text} null when its JSON has over 16 KiB: ask for it alone.` });

const tracedBlock = blockRun
  .extend({
    callId: z.uuid().meta({
      description: 'The call of the run that executed it: its first one has the executionId of the run.',
    }),
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime(),
  })
  .meta({ id: 'TracedBlock', description: 'One execution of a block.' });

export const tracedBlocks = pageOf('TracedBlocks', 'blocks', tracedBlock);

/** One of the values alone. */
export const blockValue = parsedJson.meta({ id: 'BlockValue', description: 'Any JSON.' });

/** A signed URL of an output. */
export const outputUrl = z
  .object({
    url: z.url().nullable().meta({
      description:
        'Anybody who has it may read the output, until `expiresAt`. null when the output is not in an object store: ask for …/output.',
    }),
    expiresAt: z.iso.datetime().nullable(),
    outputBytes: size.meta({ description: 'The size of the output.' }),
  })
  .meta({ id: 'OutputUrl' });

const lastAnswer = z
  .object({
    text: z.string().meta({ description: 'Text as the model wrote it, or JSON of another answer.' }),
    isCut: z.boolean().meta({
      description: `Whether the text was longer than ${LAST_ANSWER_MAX_CHARS.toLocaleString('en')} characters.`,
    }),
    finishReason: z
      .string()
      .nullable()
      .meta({ description: 'As the provider says it; null where it is not known.' }),
    usage: z.object({ promptTokens: count, completionTokens: count }),
    repairRequest: z.string().nullable().meta({ description: 'The message that asked for a repair.' }),
  })
  .meta({ id: 'LastAnswer', description: 'The last answer of the model to an llm block that failed.' });

export const blockDetail = tracedBlock
  .extend({
    input: shown('The input of the block.'),
    inputBytes: size.meta({ description: 'The size of the input as JSON.' }),
    sent: shown(
      'llm: the request to the model, without the messages that ask it to repair its answer. code: the source. passthrough: null.',
    ),
    sentBytes: size.meta({ description: 'The size of that; 0 when nothing is sent.' }),
    output: shown('The output of the block; null when it failed or was cancelled.'),
    outputBytes: size.meta({ description: 'The size of the output; 0 when there is none.' }),
    lastAnswer: lastAnswer.optional(),
  })
  .meta({ id: 'BlockDetail' });

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

/**
 * Describes a block execution for callers and operators. `cost` is in credits; `ms` is the duration of the last
 * attempt.
 */
export function describeBlockExecution(row: BlockRunRow) {
  const iterations = iterationsOf(row.block_key);
  const { model, prompt_tokens, completion_tokens } = row;
  const isUnknown = row.status === 'cancelled' && model !== null && prompt_tokens + completion_tokens === 0;
  return {
    step_id: row.step_id,
    key: row.block_key,
    ...(iterations.length > 0 && { iterations }),
    name: row.name,
    processor_type: row.processor_type,
    status: row.status,
    attempts: row.attempts,
    model,
    ...(row.error && { code: row.error.code, errorMessage: row.error.message }),
    usage: {
      promptTokens: isUnknown ? null : prompt_tokens,
      completionTokens: isUnknown ? null : completion_tokens,
      cost: row.cost_microcredits / MICROCREDITS_PER_CREDIT,
      ...(row.uncharged_microcredits > 0 && {
        uncharged: row.uncharged_microcredits / MICROCREDITS_PER_CREDIT,
      }),
      ms: row.latency_ms,
    },
  };
}
