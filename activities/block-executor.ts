// Surrounds every block execution: loads the input, enforces schemas, applies overrides, writes the trace row and the charge.
import { createHash } from 'node:crypto';
import { MICROCREDITS_PER_CREDIT } from '../db/credits/ledger.ts';
import { loadBlockOutput, type Payer } from '../db/runs/block-runs.ts';
import { getRunContext, type RunContext } from '../db/runs/runs.ts';
import type { Attachment } from '../flow/attachment.ts';
import { canonicalJson } from '../flow/canonical-json.ts';
import type { Block, Json } from '../flow/definition.ts';
import { ServiceError } from '../flow/errors.ts';
import { applyOverride, overrideOf } from '../flow/overrides.ts';
import { listBlocks } from '../flow/plan.ts';
import { type BlockCall, type Busy, CANCELLED } from '../flow/run.ts';
import type { Pause, ToolCallMessage, ToolChoice, ToolDefinition } from '../flow/tool-calls.ts';
import { bytesToLoad, toLeaf, type Value } from '../flow/value.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { KEPT_RESULT_MAX_BYTES } from './attempt-progress.ts';
import type { ModelUsage } from './call-model.ts';
import { enforceSchema } from './enforce-schema.ts';
import { ModelUnavailable } from './model-unavailable.ts';
import { type BlockEnd, recordBlockEnd, toError, UNUSED } from './record-block-end.ts';
import { reserveInputMemory } from './reserve-memory.ts';
import type { Attempt } from './run-attempt.ts';
import { serializeOutput } from './serialize-output.ts';
import { createValueResolver } from './value-resolver.ts';

/** A model call is given up after this many unreadable answers. */
const UNREADABLE_MAX = 3;

/** A block with this run's overrides, and everything it may read. */
type BlockInput = {
  block: Block;
  input: Json;
  message: string;
  parameters: { [key: string]: Json };
  attachments: Attachment[] | undefined;
  tools?: ToolDefinition[] | undefined;
  tool_choice?: ToolChoice | undefined;
  /** The conversation with which this block continues after a pause. */
  conversation?: ToolCallMessage[] | undefined;
  payer: Payer;
  /** The model's usage so far: recorded and charged however the block ends. */
  usage: ModelUsage;
  /** The model's answer to an earlier attempt. */
  answered: string | undefined;
  /** Keeps an answer and its usage for later attempts; returns false when it is too long. */
  keepAnswer(text: string): boolean;
};

/** The result that an attempt keeps for the next: the end of the block, or an answer that needs a repair. */
type Kept = { end?: BlockEnd; answer?: { text: string; usage: ModelUsage } };

/** Does the work of one processor type; when `paused`, the output is a conversation that waits for tool results. */
export type Processor = (input: BlockInput) => Promise<{ output: Json; paused?: boolean }>;

export type BlockExecutor = {
  /**
   * Completes one block execution at most once: a completed one returns its recorded output. A local activity returns BUSY
   * when there is no memory for its input now.
   */
  run(call: BlockCall, attempt: Attempt, process: Processor): Promise<Value | Pause | Busy>;
  /** Finds the organization that the run belongs to. */
  organizationOf(call: BlockCall): Promise<string>;
  /** Whether the block's JSON Schemas, if any, can be enforced without waiting for the organization's turn. */
  hasRoom(call: BlockCall): Promise<boolean>;
  /** Returns what `look` finds in the JSON of a value of this run; BUSY as above. */
  inspect<T>(executionId: string, value: Value, attempt: Attempt, look: (json: Json) => T): Promise<T | Busy>;
};

/** Creates the executor that all block activities of a process share. */
export function createBlockExecutor(
  deps: Pick<ActivityDeps, 'db' | 'definitions' | 'balanceLimit' | 'validator' | 'inProcessRuns'>,
): BlockExecutor {
  const { db, definitions, validator, inProcessRuns } = deps;
  const { contexts } = inProcessRuns;
  const resolve = createValueResolver(db, async (executionId) => (await loadContext(executionId)).input);

  async function run(call: BlockCall, attempt: Attempt, process: Processor): Promise<Value | Pause | Busy> {
    // From here on the run waits, for a model or for its turn: the API may start another.
    if (!attempt.isLocal) inProcessRuns.freePlace(call.executionId);
    // A repeated attempt may follow a lost answer, so it does not trust the cached list of completed blocks.
    if (attempt.begun > 1) contexts.delete(call.executionId);
    const context = await loadContext(call.executionId);
    // The run was cancelled just as its workflow started: it must not spend anything.
    if (context.cancelled) throw new ServiceError(CANCELLED.code, CANCELLED.message);
    if (context.completed.has(call.blockKey)) return recordedReply(call);
    const bytes = bytesToLoad(call.input) + context.input.message.length;
    return reserveInputMemory(context.organizationId, bytes, attempt, () =>
      runOnce(call, context, attempt, process),
    );
  }

  async function runOnce(
    call: BlockCall,
    context: RunContext,
    attempt: Attempt,
    process: Processor,
  ): Promise<Value | Pause> {
    const block = await loadBlock(context, call.stepId);
    const trace = {
      executionId: call.executionId,
      blockKey: call.blockKey,
      stepId: call.stepId,
      name: block.name,
      processorType: block.processor_type,
      input: call.input,
      attempts: attempt.number,
      startedAt: new Date(),
    };
    const kept = attempt.kept as Kept | undefined;
    const end = kept?.end ?? (await carryOut(call, context, block, attempt, process));
    if ((end.output?.length ?? 0) <= KEPT_RESULT_MAX_BYTES) attempt.keep({ end } satisfies Kept);
    const { value } = end;
    const result = call.ends ? value : undefined;
    const recorded = await recordBlockEnd(deps, attempt, payerOf(context), trace, end, result);
    if (end.error) throw new ServiceError(end.error.code, end.error.message);
    context.completed.add(call.blockKey);
    if (!recorded || !value) return await recordedReply(call);
    if (result) inProcessRuns.end(call.executionId, { status: 'completed', result: value });
    return value;
  }

  /** Runs the block's processor. A failure that a retry cannot help is an end of the block; others are thrown. */
  async function carryOut(
    call: BlockCall,
    context: RunContext,
    block: Block,
    attempt: Attempt,
    process: Processor,
  ): Promise<BlockEnd> {
    const { message, parameters, attachments, tools, tool_choice } = context.input;
    const conversation = resumeOf(context, call)?.messages;
    const answer = (attempt.kept as Kept | undefined)?.answer;
    const usage = { ...(answer?.usage ?? UNUSED) };
    const { organizationId } = context;
    try {
      const input = await resolve(call.executionId, call.input);
      // The input of a block that continues after a pause was checked before.
      if (!conversation) await enforceSchema(validator, organizationId, 'input', block.inputSchema, input);
      const { output, paused } = await process({
        block,
        input,
        message,
        parameters,
        attachments,
        ...(block.processor_config?.tools_enabled && { tools, tool_choice, conversation }),
        payer: payerOf(context),
        usage,
        answered: answer?.text,
        keepAnswer: (text) =>
          text.length <= KEPT_RESULT_MAX_BYTES &&
          attempt.keep({ answer: { text, usage: { ...usage } } } satisfies Kept),
      });
      // The processor has already validated, and maybe repaired, a model's answer.
      if (block.processor_type !== 'llm')
        await enforceSchema(validator, organizationId, 'output', block.outputSchema, output);
      const { serialized, bytes } = serializeOutput(output);
      return paused
        ? { usage, output: serialized, paused }
        : { usage, output: serialized, value: toLeaf(call.blockKey, output, bytes) };
    } catch (error) {
      if (error instanceof ServiceError) return { usage, error: toError(error) };
      if (error instanceof ModelUnavailable && (attempt.last || isGivenUp(error, attempt)))
        return { usage, error: { code: 'MODEL_UNAVAILABLE', message: error.message } };
      throw error;
    }
  }

  async function recordedReply(call: BlockCall): Promise<Value | Pause> {
    const { output, bytes, paused } = await loadBlockOutput(db, call.executionId, call.blockKey);
    if (!paused) return toLeaf(call.blockKey, output, bytes);
    const context = await loadContext(call.executionId);
    const messages = output as ToolCallMessage[];
    const last = messages.at(-1);
    const { continuation } = context.input;
    return {
      ...(continuation && { carriedBytes: Buffer.byteLength(JSON.stringify(continuation.outputs)) }),
      paused: {
        step_id: call.stepId,
        iterations: (resumeOf(context, call)?.iterations ?? 0) + 1,
        tool_call_ids: (last?.role === 'assistant' ? (last.tool_calls ?? []) : []).map(({ id }) => id),
        digest: createHash('sha256').update(canonicalJson(messages)).digest('hex'),
      },
    };
  }

  async function loadContext(executionId: string): Promise<RunContext> {
    const known = contexts.get(executionId);
    if (known) return known;
    const context = await getRunContext(db, executionId);
    contexts.set(executionId, context);
    return context;
  }

  async function loadBlock(context: RunContext, stepId: string): Promise<Block> {
    const definition = await definitions.get(context.flowVersionId);
    const block = listBlocks(definition).find((candidate) => candidate.step_id === stepId);
    if (!block) throw new ServiceError('INVALID_TREE', `This version of the flow has no block ${stepId}.`);
    return applyOverride(block, overrideOf(context.input.block_overrides, stepId));
  }

  async function organizationOf({ executionId }: BlockCall): Promise<string> {
    return (await loadContext(executionId)).organizationId;
  }

  async function hasRoom({ executionId, stepId }: BlockCall): Promise<boolean> {
    const context = await loadContext(executionId);
    const { inputSchema, outputSchema } = await loadBlock(context, stepId);
    if (inputSchema === undefined && outputSchema === undefined) return true;
    return validator.of(context.organizationId).hasRoom();
  }

  return {
    run,
    organizationOf,
    hasRoom,
    async inspect(executionId, value, attempt, look) {
      const { organizationId } = await loadContext(executionId);
      return reserveInputMemory(organizationId, bytesToLoad(value), attempt, async () =>
        look(await resolve(executionId, value)),
      );
    },
  };
}

/** Each unreadable answer may have cost the provider's price. */
function isGivenUp({ isUnreadable }: ModelUnavailable, { number }: Attempt): boolean {
  return isUnreadable && number >= UNREADABLE_MAX;
}

/** Finds the resume of a block if it is the one that paused. */
function resumeOf({ input }: RunContext, call: BlockCall) {
  const resume = input.continuation?.resume;
  return resume?.step_id === call.stepId ? resume : undefined;
}

function payerOf({ organizationId, input: { max_credits: max } }: RunContext): Payer {
  return { organizationId, maxMicrocredits: max && Math.round(max * MICROCREDITS_PER_CREDIT) };
}
