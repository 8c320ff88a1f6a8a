// Shapes of block executions in responses: the receipt of a run, and the values of one block.
import { z } from 'zod';
import type { Db } from '../../../db/connect.ts';
import { BLOCK_RUN_BYTES, countBlockRuns, listBlockRuns } from '../../../db/runs/block-runs.ts';
import type { FailedAttempt } from '../../../db/schema.ts';
import { LOG_LEVELS } from '../../../flow/code-log.ts';
import { MICROCREDITS_PER_CREDIT } from '../../../flow/credit-amount.ts';
import { type FlowDefinition, PROCESSOR_TYPES } from '../../../flow/definition.ts';
import { LAST_ANSWER_MAX_CHARS } from '../../../flow/limits.ts';
import { iterationsOf } from '../../../flow/plan.ts';
import { eachStep } from '../../../flow/step-path.ts';
import { SMALL_BYTES } from '../../../platform/limits/gates.ts';
import { noteUnlisted } from '../../../platform/models/note-unlisted.ts';
import type { ApiDeps } from '../../deps.ts';
import { parsedJson } from '../../flows/written-flow.ts';
import { errorCode } from '../../http/headers.ts';
import { pageOf } from '../../http/page.ts';
import { queryBoolean } from '../../http/query-fields.ts';

type ReceiptDeps = Pick<ApiDeps, 'db' | 'registry'>;
type BlockRunRow = Awaited<ReturnType<typeof listBlockRuns>>[number];

export const BLOCK_STATUSES = ['completed', 'failed', 'paused', 'cancelled'] as const;

const count = z.int().min(0);

export const iterations = z
  .array(count)
  .optional()
  .meta({ description: 'Inside loops: the iteration of each of them, outermost first, from 0.' });

/** Counts of tokens. */
export const tokens = {
  promptTokens: count.meta({ description: 'All input, cached input and cache writes included.' }),
  cachedTokens: count.meta({ description: 'Input read from a cache of the provider.' }),
  cacheWriteTokens: count.meta({ description: 'Input written to it.' }),
  completionTokens: count.meta({ description: 'All output, reasoning included.' }),
  reasoningTokens: count,
};

type TokenColumn = `${'prompt' | 'cached' | 'cache_write' | 'completion' | 'reasoning'}_tokens`;

/** Describes the counts of tokens in a row. */
export function toTokens<Count>(row: { [column in TokenColumn]: Count }) {
  return {
    promptTokens: row.prompt_tokens,
    cachedTokens: row.cached_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    completionTokens: row.completion_tokens,
    reasoningTokens: row.reasoning_tokens,
  };
}

const usage = z
  .object({
    ...tokens,
    promptTokens: count.nullable().meta({ description: 'null: unknown, because the request was aborted.' }),
    completionTokens: count.nullable(),
    estimated: z.literal(true).optional().meta({
      description: 'The provider left counts out, and these are estimates.',
    }),
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
    pinned: z.literal(true).optional().meta({
      description:
        'The block did not run: its output was given with the run, or is that of the failed run which this run retries.',
    }),
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
  notes: z
    .array(z.string())
    .optional()
    .meta({ description: 'Models that are in no list, and what they are charged.' }),
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

export const tracedBlocks = pageOf('TracedBlocks', 'blocks', tracedBlock)
  .extend({ notes: receipt.notes })
  .meta({ id: 'TracedBlocks' });

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
    usage: z.object(tokens),
    repairRequest: z.string().nullable().meta({ description: 'The message that asked for a repair.' }),
  })
  .meta({ id: 'LastAnswer', description: 'The last answer of the model to an llm block that failed.' });

const codeLog = z
  .object({
    level: z.enum(LOG_LEVELS),
    text: z.string(),
    omittedBefore: count.optional().meta({ description: 'How many lines are left out before it.' }),
  })
  .meta({ id: 'CodeLog', description: 'A line that code wrote with `console`.' });

const failedAttempt = z
  .object({
    number: z.int().min(1),
    startedAt: z.iso.datetime(),
    endedAt: z.iso.datetime(),
    code: errorCode,
    message: z.string(),
  })
  .meta({ id: 'FailedAttempt' });

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
    reasoning: z
      .string()
      .optional()
      .meta({ description: "llm: the reasoning of the model's last answer, cut as `lastAnswer`." }),
    logs: z.array(codeLog).optional(),
    failedAttempts: z
      .array(failedAttempt)
      .optional()
      .meta({ description: 'Attempts before the last: the first 3 and the last 10 that failed.' }),
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

/** Describes the attempts at a block that failed before the last one. */
export function describeFailedAttempts(attempts: FailedAttempt[]) {
  return attempts.map(({ startedAt, endedAt, ...attempt }) => ({
    ...attempt,
    startedAt: new Date(startedAt).toISOString(),
    endedAt: new Date(endedAt).toISOString(),
  }));
}

/** Reads the costs of a run and its block executions, in credits; up to the call `until`, when given. */
export async function readReceipt(deps: ReceiptDeps, executionId: string, until?: string) {
  return toReceipt(deps, await listBlockRuns(deps.db, executionId, until));
}

/** Makes a receipt: the costs of block executions and their sum, in credits, and notes about their models. */
export function toReceipt({ registry }: Pick<ReceiptDeps, 'registry'>, rows: BlockRunRow[]) {
  const microcredits = rows.reduce((sum, row) => sum + row.cost_microcredits, 0);
  return {
    cost: microcredits / MICROCREDITS_PER_CREDIT,
    blocks: rows.map(describeBlockExecution),
    ...noteModels({ registry }, rows),
  };
}

/** Makes the notes about the models of block executions; {} where all are listed. */
export function noteModels(
  { registry }: Pick<ReceiptDeps, 'registry'>,
  rows: readonly { model: string | null }[],
): { notes?: string[] } {
  const models = new Set(rows.flatMap(({ model }) => model ?? []));
  const notes = [...models].flatMap((model) => noteUnlisted(registry, model) ?? []);
  return notes.length > 0 ? { notes } : {};
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
    ...(row.pinned && { pinned: true as const }),
    ...(row.error && { code: row.error.code, errorMessage: row.error.message }),
    usage: {
      ...toTokens(row),
      ...(isUnknown && { promptTokens: null, completionTokens: null }),
      ...(row.usage_estimated && { estimated: true as const }),
      cost: row.cost_microcredits / MICROCREDITS_PER_CREDIT,
      ...(row.uncharged_microcredits > 0 && {
        uncharged: row.uncharged_microcredits / MICROCREDITS_PER_CREDIT,
      }),
      ms: row.latency_ms,
    },
  };
}
