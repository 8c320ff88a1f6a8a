// Block executions for the author of a flow: the input of each, the request it sent, and its output.
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Db } from '../../db/connect.ts';
import { type BlockTraceRow, loadBlockValues } from '../../db/runs/block-traces.ts';
import { getRunInput } from '../../db/runs/runs.ts';
import type { FailedAttempt } from '../../db/schema.ts';
import { loadReferences, loadThroughCache } from '../../db/stored-values/load-references.ts';
import type { StoredRunInput } from '../../db/tables/run-input.ts';
import type { CodeLog } from '../../flow/code-log.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';
import type { FlowDefinition, Json } from '../../flow/definition.ts';
import { OUTPUTS_READ_MAX_BYTES } from '../../flow/limits.ts';
import { listBlocks } from '../../flow/plan.ts';
import { resolveValue, type Stored } from '../../flow/value.ts';
import type { ApiDeps } from '../deps.ts';
import { parsedJson } from '../flows/written-flow.ts';
import { cutJson, cutText, shareOf } from '../http/write-json.ts';
import { readSentRequest, type Sent } from '../runs/block-values.ts';
import { blockRun } from '../runs/run-shapes/block-answers.ts';

/** Maximum number of block executions in one response; of more, shows the first and the last. */
const EXECUTIONS_MAX = 60;
/** The values of one block execution: input, sent request, output, and either the last answer or the console lines. */
const VALUES_EACH = 4;
/** Limits of the cache during one response: call inputs, and bytes of outputs. */
const CACHED_INPUTS_MAX = 4;
const CACHED_OUTPUTS_MAX_BYTES = 2 * OUTPUTS_READ_MAX_BYTES;

const count = z.int().min(0);
export const blockTrace = z.strictObject({
  ...blockRun.omit({ code: true, errorMessage: true, usage: true }).shape,
  input: parsedJson.meta({ description: 'The input of the block.' }),
  sent: parsedJson.meta({
    description:
      'llm: the messages to the model, without repair requests. code: the source. passthrough: null.',
  }),
  output: parsedJson.meta({ description: 'The output of the block; null when it failed.' }),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  last_answer: parsedJson.meta({
    description: 'The last answer of the model to a block that failed; otherwise its reasoning, or null.',
  }),
  logs: z
    .array(z.string())
    .optional()
    .meta({ description: 'code: the lines that it wrote with console, with their level; the last of many.' }),
  failed_attempts: z
    .array(z.string())
    .optional()
    .meta({ description: 'Attempts that failed before the last.' }),
  prompt_tokens: count,
  cached_tokens: count,
  cache_write_tokens: count,
  completion_tokens: count,
  reasoning_tokens: count,
  cost: z.number().meta({ description: 'Credits.' }),
  uncharged: z
    .number()
    .meta({ description: 'Credits that the operator bears: the balance or maxCredits was used up.' }),
  ms: count.meta({ description: 'The duration of the last attempt, in milliseconds.' }),
  started_at: z.iso.datetime(),
});
type BlockTrace = z.input<typeof blockTrace>;

/** Describes block executions, with each value cut to `maxChars`, or shorter when there are many. */
export async function traceBlocks(
  deps: ApiDeps,
  rows: BlockTraceRow[],
  maxChars: number,
): Promise<{ blocks: BlockTrace[]; left_out: number }> {
  const half = EXECUTIONS_MAX / 2;
  const shown = rows.length > EXECUTIONS_MAX ? [...rows.slice(0, half), ...rows.slice(-half)] : rows;
  const share = shareOf(shown.length * VALUES_EACH, maxChars);
  const store = createStore(deps.db);
  const traced: BlockTrace[] = [];
  // One at a time, because each may occupy megabytes before it is cut.
  for (const row of shown) {
    const definition = await deps.definitions.get(row.flow_version_id);
    traced.push(await traceBlock(deps, { ...store, definition }, row, share));
  }
  return { blocks: traced, left_out: rows.length - shown.length };
}

/** Reads the inputs of a run's calls and the outputs of its blocks through a cache: loop items share one output. */
type Store = {
  input(callId: string): Promise<StoredRunInput>;
  outputs(callId: string, refs: string[]): Promise<Map<string, Stored>>;
};

function createStore(db: Db): Store {
  const inputs = new LRUCache<string, StoredRunInput>({ max: CACHED_INPUTS_MAX });
  const kept = new LRUCache<string, Stored>({
    maxSize: CACHED_OUTPUTS_MAX_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
  });
  return {
    async input(callId) {
      const input = inputs.get(callId) ?? (await getRunInput(db, callId));
      inputs.set(callId, input);
      return input;
    },
    outputs: (callId, refs) =>
      loadThroughCache(kept, callId, refs, (absent) => loadReferences(db, callId, absent)),
  };
}

async function traceBlock(
  deps: ApiDeps,
  store: Store & { definition: FlowDefinition },
  row: BlockTraceRow,
  maxChars: number,
): Promise<BlockTrace> {
  const values = await loadBlockValues(deps.db, row, maxChars);
  const input = await resolveValue(values.input, (refs) => store.outputs(row.execution_id, refs));
  const block = listBlocks(store.definition).find(({ step_id }) => step_id === row.step_id);
  const sent = block && (await readSentRequest(deps, store, row, block, input));
  return {
    step_id: row.step_id,
    key: row.block_key,
    name: row.name,
    processor_type: row.processor_type,
    status: row.status,
    attempts: row.attempts,
    model: row.model,
    ...(row.pinned && { pinned: true }),
    input: cutJson(input, maxChars),
    sent: sent === undefined ? null : cutSentRequest(sent, maxChars),
    output: cutOutput(values.output, maxChars, values.output_chars),
    error: row.error,
    last_answer: values.last_answer && cutJson(values.last_answer, maxChars),
    ...(values.failed_attempts && { failed_attempts: cutAttempts(values.failed_attempts, maxChars) }),
    ...(values.logs && { logs: cutLogs(values.logs, maxChars) }),
    prompt_tokens: row.prompt_tokens,
    cached_tokens: row.cached_tokens,
    cache_write_tokens: row.cache_write_tokens,
    completion_tokens: row.completion_tokens,
    reasoning_tokens: row.reasoning_tokens,
    cost: row.cost_microcredits / MICROCREDITS_PER_CREDIT,
    uncharged: row.uncharged_microcredits / MICROCREDITS_PER_CREDIT,
    ms: row.latency_ms,
    started_at: row.started_at.toISOString(),
  };
}

function cutAttempts(attempts: FailedAttempt[], maxChars: number): string[] {
  return attempts.map(({ number, startedAt, endedAt, code, message }) => {
    const ms = Date.parse(endedAt) - Date.parse(startedAt);
    return cutText(`${number}. ${code} after ${ms} ms: ${message}`, Math.floor(maxChars / attempts.length));
  });
}

/** Writes console lines as texts of at most `maxChars` together: of more, the last, which an error follows. */
function cutLogs(logs: CodeLog[], maxChars: number): string[] {
  const texts: string[] = [];
  let room = maxChars;
  for (const { level, text, omittedBefore = 0 } of logs.toReversed()) {
    const line = cutText(`${level}: ${text}`, room);
    texts.unshift(line);
    if (omittedBefore > 0) texts.unshift(`… ${omittedBefore} lines left out`);
    room -= line.length;
    if (room <= 0) break;
  }
  return texts;
}

function cutOutput(text: string, maxChars: number, length: number): Json {
  if (length === 0) return null;
  return length <= maxChars ? JSON.parse(text) : cutText(text, maxChars, length);
}

function cutSentRequest(sent: Sent, maxChars: number): Json {
  if (typeof sent === 'string') return cutText(sent, maxChars);
  const share = Math.floor(maxChars / sent.messages.length);
  const cut = (value: unknown) =>
    typeof value === 'string' ? cutText(value, share) : cutJson((value ?? null) as Json, share);
  return {
    ...sent,
    messages: sent.messages.map(({ role, content, tool_calls }) => ({
      role,
      content: cut(content),
      ...(tool_calls !== undefined && { tool_calls: cut(tool_calls) }),
    })),
  };
}
