import { releaseReservation } from '../db/credits/reservations.ts';
import type { Pause, ToolCallMessage } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { acquireBytes } from '../platform/limits/gates.ts';
import { measurePrompt } from '../platform/models/prompt-size.ts';
import type { ActivityDeps } from './activity-deps.ts';
import type { Attempt } from './attempts/run-attempt.ts';
import type { BlockOutput } from './attempts/serialize-output.ts';
import { beginRequest } from './begin-request.ts';
import type { BlockExecution, BlockInput } from './block-execution.ts';
import type { BlockExecutor } from './block-executor.ts';
import { askModel } from './model/ask-model.ts';
import { countRetry } from './model/observe-model-call.ts';

/**
 * Makes the model call (and at most one repair) of an llm block, within `measure`; the block may pause for the caller's tools.
 * During the call the block holds its prompt alone: a call takes long.
 */
export async function runModelBlock(
  deps: ActivityDeps,
  blocks: BlockExecutor,
  execution: BlockExecution,
  attempt: Attempt,
  measure: (call: () => Promise<BlockOutput>) => Promise<BlockOutput>,
): Promise<Value | Pause> {
  const { callId, blockKey } = execution;
  const { signal } = attempt;
  const { organizationId } = await blocks.find(execution);
  let reservedAt: string | undefined;

  async function answer(given: BlockInput): Promise<BlockOutput> {
    const { block, payer } = given;
    const { chars, build } = measureConversation(deps, given);
    using _permit = await acquireBytes(deps.gates.prompts, organizationId, chars, attempt);
    const conversation = build();
    given.dropInput();
    let isFirst = true;
    const model = block.model ?? '';
    const begin = async (microcredits: number) => {
      const reservation = { ...payer, callId, blockKey, microcredits };
      const { provider, again, ...begun } = await beginRequest(deps, attempt, model, reservation);
      reservedAt = begun.reservedAt;
      // An attempt that was lost with its workflow task is known by its reservation alone.
      if (isFirst && again && attempt.number === 1) attempt.number = 2;
      if (isFirst && (again || attempt.number > 1)) countRetry(deps.registry, model);
      isFirst = false;
      return provider;
    };
    const validator = deps.validator.of(organizationId);
    return await measure(() =>
      askModel({ ...deps, validator }, { ...given, organizationId, conversation, begin }, signal),
    );
  }

  try {
    return await blocks.run(execution, attempt, answer);
  } catch (error) {
    // An answer that is not recorded yet keeps its reservation. A reservation that is not released now is taken over by the
    // next attempt or released by the reconciler.
    if (reservedAt && !attempt.kept)
      await releaseReservation(deps.db, execution, reservedAt).catch(() => undefined);
    throw error;
  }
}

/** Measures the conversation that the model gets, before it is built. */
function measureConversation(
  { registry }: Pick<ActivityDeps, 'registry'>,
  { block, input, message, parameters, outputs, conversation, tools }: BlockInput,
): { chars: number; build(): ToolCallMessage[] } {
  const given = { message, previousOutput: input, parameters, outputs };
  const prompt = conversation ? undefined : measurePrompt(registry, block, given, tools);
  const besides = JSON.stringify([
    block.processor_config?.system,
    block.processor_config?.messages,
    tools,
  ]).length;
  return {
    chars: (prompt?.length ?? JSON.stringify(conversation).length) + besides,
    build: () => conversation ?? [{ role: 'user', content: prompt?.build() ?? '' }],
  };
}
