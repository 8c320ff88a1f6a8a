// Surrounds every block execution: loads the input, enforces schemas, applies overrides, writes the trace row and the charge.

import { BlockRecorded } from '../db/credits/reservations.ts';
import { loadBlockOutput, type Payer } from '../db/runs/block-runs.ts';
import type { OutputsRead } from '../db/runs/find-outputs-read.ts';
import { findReusedOutput, type ReusedOutput } from '../db/runs/find-reused-outputs.ts';
import { measureBegin, measureEnd, type RunContext } from '../db/runs/runs.ts';
import { loadReferences } from '../db/stored-values/load-references.ts';
import { toMicrocredits } from '../flow/credit-amount.ts';
import type { Block, Json } from '../flow/definition.ts';
import { ServiceError } from '../flow/errors.ts';
import { applyOverride, overrideOf } from '../flow/overrides.ts';
import { listBlocks } from '../flow/plan.ts';
import { CANCELLED, ENDED } from '../flow/run.ts';
import { iterationCap, type Pause, type ToolCallMessage } from '../flow/tool-calls.ts';
import { bytesToLoad, toLeaf, type Value } from '../flow/value.ts';
import { weigh } from '../platform/json-text/measure-json.ts';
import type { Permit } from '../platform/limits/fair-queue.ts';
import { acquireBytes } from '../platform/limits/gates.ts';
import { conversationFor } from '../platform/models/assistant-state.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { KEPT_RESULT_MAX_BYTES } from './attempts/attempt-progress.ts';
import { countLostWorkers } from './attempts/delay-after-lost-workers.ts';
import { ModelUnavailable } from './attempts/model-unavailable.ts';
import type { Attempt } from './attempts/run-attempt.ts';
import { serializeOutput } from './attempts/serialize-output.ts';
import type { BlockExecution, BlockInput, Kept, Processor } from './block-execution.ts';
import { isStopped } from './cancellations.ts';
import { isGivenUp } from './is-given-up.ts';
import type { ReserveAnswer } from './model/fetch-answer.ts';
import { type BlockEnd, recordBlockEnd, toError, toPause, UNUSED } from './record-block-end.ts';
import { enforceSchema } from './values/enforce-schema.ts';
import { createInspectValue, type InspectValue } from './values/inspect-value.ts';
import { createRunContexts } from './values/run-contexts.ts';
import { createOutputsReader, createValueResolver } from './values/value-resolver.ts';

/** The work on a block: its processor, in one attempt, with the permit of its input. */
type Work = { attempt: Attempt; process: Processor; inputPermit: Permit; reserveAnswer: ReserveAnswer };
/** `isGiven`: the block does not run, since its output is pinned or an earlier attempt of the run completed it. */
export type Found = Pick<RunContext, 'organizationId' | 'awaited'> & { block: Block; isGiven: boolean };
/** A block with what it reads; `reused` is the output of an earlier attempt. */
type Readable = { block: Block; read: OutputsRead; reused: ReusedOutput | undefined };

export type BlockExecutor = {
  /**
   * Completes one block execution at most once: a completed one returns its recorded output. A large input waits for a permit.
   * Throws PermitRejected.
   */
  run(execution: BlockExecution, attempt: Attempt, process: Processor): Promise<Value | Pause>;
  /**
   * Finds the block, with this run's overrides, the run's organization, and whether a caller waits for the run's end.
   */
  find(execution: BlockExecution): Promise<Found>;
  inspect: InspectValue;
};

/** Creates the executor that all block activities of a process share. */
export function createBlockExecutor(
  deps: Pick<ActivityDeps, 'db' | 'definitions' | 'balanceLimit' | 'validator' | 'inProcessRuns' | 'gates'>,
): BlockExecutor {
  const { db, definitions, validator, inProcessRuns, gates } = deps;
  const { contexts } = inProcessRuns;
  const loadContext = createRunContexts(deps);
  const { resolve, keep } = createValueResolver(db, async (callId) => (await loadContext(callId)).input);
  const outputsRead = createOutputsReader(db, definitions, resolve);

  async function run(
    execution: BlockExecution,
    attempt: Attempt,
    process: Processor,
  ): Promise<Value | Pause> {
    // A repeated attempt may follow a lost answer, so it does not trust the cached list of completed blocks.
    if (attempt.begun > 1) contexts.delete(execution.callId);
    const context = await loadContext(execution.callId);
    // The run was cancelled, and its workflow has not heard of it: it must not spend anything.
    if (context.cancelled) throw new ServiceError(CANCELLED.code, CANCELLED.message);
    if (context.completed.has(execution.blockKey)) return recordedReply(execution);
    if (context.ended) throw new ServiceError(ENDED.code, ENDED.message);
    if (!context.begun && context.completed.size === 0 && attempt.begun === 1)
      measureBegin(context.mode, context.startedAt);
    context.begun = true;
    countLostWorkers(attempt, context.lostWorkers.get(execution.blockKey) ?? 0);
    const block = await loadBlock(context, execution.stepId);
    const read = await outputsRead.find(context, execution, block);
    const reused = await findReused(context, execution);
    const given = reused?.bytes ?? bytesToLoad(execution.input) + read.bytes;
    const bytes = given + context.input.message.length;
    using inputPermit = await acquireBytes(gates.inputs, context.organizationId, bytes, attempt);
    let answerPermit: Permit | undefined;
    try {
      return await runOnce(
        execution,
        context,
        { block, read, reused },
        {
          attempt,
          process,
          inputPermit,
          async reserveAnswer(weight, signal) {
            // The answer of a repair needs no second permit: two that wait for theirs could block each other.
            answerPermit ??= await gates.modelAnswers.acquire(context.organizationId, { weight, signal });
          },
        },
      );
    } finally {
      answerPermit?.release();
    }
  }

  async function runOnce(
    execution: BlockExecution,
    context: RunContext,
    readable: Readable,
    work: Work,
  ): Promise<Value | Pause> {
    const { attempt } = work;
    const { block } = readable;
    const trace = {
      callId: execution.callId,
      blockKey: execution.blockKey,
      stepId: execution.stepId,
      name: block.name,
      processorType: block.processor_type,
      input: execution.input,
      startedAt: performance.now(),
    };
    let end = (attempt.kept as Kept | undefined)?.end;
    try {
      end ??= await carryOut(execution, context, readable, work);
    } catch (error) {
      if (error instanceof BlockRecorded) return recordedElsewhere(execution);
      throw error;
    }
    if (!Buffer.isBuffer(end.output) && (end.output?.length ?? 0) <= KEPT_RESULT_MAX_BYTES)
      attempt.keep({ end } satisfies Kept);
    const { value } = end;
    const result = execution.ends ? value : undefined;
    // An attempt that was lost with its worker may have asked a model, and nobody else.
    const attempts = block.processor_type === 'llm' ? attempt.number : 1 + attempt.refusals;
    const ended = { ...trace, attempts };
    const { recorded, error } = await recordBlockEnd(deps, attempt, payerOf(context), ended, end, result);
    if (error) {
      const failure = new ServiceError(error.code, error.message);
      if (recorded) throw failure;
      // By another attempt, unless the run has ended.
      return await recordedElsewhere(execution).catch((error: unknown) => {
        throw error instanceof ServiceError && error.code === 'RUN_NOT_FOUND' ? failure : error;
      });
    }
    if (!recorded) return await recordedElsewhere(execution);
    inProcessRuns.complete(execution.callId, execution.blockKey);
    if (!value) return await recordedReply(execution);
    if (!result) keep(execution.callId, value, end.output);
    if (result) measureEnd(context.mode, context.startedAt, { status: 'completed', result });
    if (result) inProcessRuns.end(execution.callId, { status: 'completed', result: value });
    return value;
  }

  /** Runs the block's processor. A failure that a retry cannot help is an end of the block; others are thrown. */
  async function carryOut(
    execution: BlockExecution,
    context: RunContext,
    { block, read, reused }: Readable,
    { attempt, process, inputPermit, reserveAnswer }: Work,
  ): Promise<BlockEnd> {
    const { message, parameters, attachments, tools, tool_choice } = context.input;
    const resume = resumeOf(context, execution);
    const conversation = resume && conversationFor(block.model ?? '', resume);
    const answer = (attempt.kept as Kept | undefined)?.answer;
    const usage = { ...(answer?.usage ?? UNUSED) };
    const turns = [...(answer?.turns ?? [])];
    const answers: BlockInput['answers'] = {};
    const printed: BlockInput['printed'] = {};
    const fail = (error: NonNullable<BlockEnd['error']>): BlockEnd => ({
      usage,
      error,
      ...(pinned && { pinned: true }),
      ...(answers.last && { lastAnswer: answers.last }),
      ...printed,
    });
    const own = validator.of(context.organizationId);
    const pinned = pinOf(context, execution.stepId);
    try {
      if (pinned) await enforceSchema(own, 'output', block.outputSchema, pinned.output, attempt);
      const known = pinned ?? (reused && (await loadReused(execution, reused)));
      if (known) {
        const { serialized, bytes, weight } = serializeOutput(known);
        const value = toLeaf(execution.blockKey, known.output, bytes, weight);
        return { usage, output: serialized, value, pinned: true };
      }
      const given: BlockInput = {
        block,
        input: await resolve(execution.callId, execution.input),
        message,
        parameters,
        // A block that goes on after a pause has its prompt in the conversation.
        outputs: conversation ? {} : await outputsRead.load(execution.callId, read),
        dropInput() {
          given.input = null;
          given.outputs = {};
          inputPermit.release();
        },
        reserveAnswer,
        attachments,
        ...(block.processor_config?.tools_enabled && { tools, tool_choice, conversation }),
        payer: payerOf(context),
        usage,
        answers,
        printed,
        answered: answer?.text,
        turns,
        roundsLeft: iterationCap(block) - (resume?.iterations ?? 0),
        keepAnswer: (text) =>
          (text ?? '').length <= KEPT_RESULT_MAX_BYTES &&
          attempt.keep({ answer: { text, turns, usage: { ...usage } } } satisfies Kept),
      };
      // The input of a block that continues after a pause was checked before.
      if (!conversation) await enforceSchema(own, 'input', block.inputSchema, given.input, attempt);
      const { paused, ...answered } = await process(given);
      // The processor has already validated, and maybe repaired, a model's answer.
      if (block.processor_type !== 'llm')
        await enforceSchema(own, 'output', block.outputSchema, answered.json ?? answered.output, attempt);
      const { serialized, bytes, weight } = serializeOutput(answered);
      const reasoning = answers.last?.reasoning;
      const thought = reasoning !== undefined && { lastAnswer: { reasoning } };
      if (paused) return { usage, output: serialized, paused, ...thought };
      const value = toLeaf(execution.blockKey, answered.output, bytes, weight);
      return { usage, output: serialized, value, ...printed, ...thought };
    } catch (error) {
      // Not charged, and the provider no longer says what it has used.
      if (isStopped(attempt.signal)) {
        const { reserved = false } = usage;
        return {
          usage: { ...UNUSED, ...(block.model && { model: block.model }), reserved },
          error: CANCELLED,
        };
      }
      if (error instanceof ServiceError) return fail(toError(error));
      if (error instanceof ModelUnavailable && isGivenUp(error, attempt, block, context))
        return fail({ code: 'MODEL_UNAVAILABLE', message: error.message });
      throw error;
    }
  }

  /** Returns what another worker has recorded. It may have recorded the next blocks too, which the cached list lacks. */
  function recordedElsewhere(execution: BlockExecution): Promise<Value | Pause> {
    contexts.delete(execution.callId);
    return recordedReply(execution);
  }

  async function recordedReply(execution: BlockExecution): Promise<Value | Pause> {
    const { output, bytes, paused } = await loadBlockOutput(db, execution.callId, execution.blockKey);
    if (!paused) return toLeaf(execution.blockKey, output, bytes, weigh(JSON.stringify(output)));
    const context = await loadContext(execution.callId);
    const { model = '' } = await loadBlock(context, execution.stepId);
    return toPause(execution.stepId, model, output as ToolCallMessage[], context.input.continuation);
  }

  async function loadBlock(context: RunContext, stepId: string): Promise<Block> {
    const definition = await definitions.get(context.flowVersionId);
    const block = listBlocks(definition).find((candidate) => candidate.step_id === stepId);
    if (!block) throw new ServiceError('INVALID_TREE', `This version of the flow has no block ${stepId}.`);
    return applyOverride(block, overrideOf(context.input.block_overrides, stepId));
  }

  async function find(execution: BlockExecution): Promise<Found> {
    const context = await loadContext(execution.callId);
    const { organizationId, awaited } = context;
    const block = await loadBlock(context, execution.stepId);
    const given = pinOf(context, execution.stepId) ?? (await findReused(context, execution));
    return { organizationId, awaited, block, isGiven: given !== undefined };
  }

  function findReused(
    { input }: RunContext,
    { blockKey }: BlockExecution,
  ): Promise<ReusedOutput | undefined> {
    return findReusedOutput(db, input.reuses, blockKey);
  }

  /** Loads the output of an earlier attempt. When that was just deleted, the next try runs the block. */
  async function loadReused(
    { blockKey }: BlockExecution,
    { callId }: ReusedOutput,
  ): Promise<{ output: Json }> {
    const loaded = await loadReferences(db, callId, [blockKey]).catch((error: unknown) => {
      const isDeleted = error instanceof ServiceError && error.code === 'RUN_NOT_FOUND';
      throw isDeleted
        ? new Error(`The run ${callId} was deleted, of which ${blockKey} was to be reused.`)
        : error;
    });
    return { output: loaded.get(blockKey)?.json as Json };
  }

  return {
    run,
    find,
    inspect: createInspectValue({ gates, loadContext, resolve }),
  };
}

/** Finds the resume of a block if it is the one that paused. */
function resumeOf({ input }: RunContext, execution: BlockExecution) {
  const resume = input.continuation?.resume;
  return resume?.step_id === execution.stepId ? resume : undefined;
}

/** Finds the output that the run was given in place of running a block. */
function pinOf(
  { input: { pinned_outputs: pins } }: RunContext,
  stepId: string,
): { output: Json } | undefined {
  return pins && Object.hasOwn(pins, stepId) ? { output: pins[stepId] as Json } : undefined;
}

function payerOf({ organizationId, input: { max_credits: max } }: RunContext): Payer {
  return { organizationId, maxMicrocredits: max && toMicrocredits(max) };
}
