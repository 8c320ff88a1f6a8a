import { releaseReservation } from '../db/credits/reservations.ts';
import type { Pause, ToolCallMessage } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { measurePrompt } from '../platform/models/prompt-size.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { NoRoom } from './attempts/no-room.ts';
import type { Attempt } from './attempts/run-attempt.ts';
import type { BlockOutput } from './attempts/serialize-output.ts';
import { beginRequest } from './begin-request.ts';
import type { BlockExecution, BlockInput } from './block-execution.ts';
import type { BlockExecutor } from './block-executor.ts';
import { askModel } from './model/ask-model.ts';
import { countRetry } from './model/observe-model-call.ts';
import { createPromptMemory, type PromptMemory } from './model/prompt-memory.ts';

/** Makes a call when it is the organization's turn; throws NoRoom where it may not wait for that. */
type InTurn = (call: () => Promise<BlockOutput>) => Promise<BlockOutput>;

/**
 * Makes the model call (and at most one repair) of an llm block; the block may pause for the caller's tools. While it waits for
 * memory for its prompt it holds no input, and while it waits for its turn nothing but the prompt, since both may take as long
 * as other calls do.
 */
export async function runModelBlock(
  deps: ActivityDeps,
  blocks: BlockExecutor,
  execution: BlockExecution,
  attempt: Attempt,
  inTurn: InTurn,
): Promise<Value | Pause> {
  const { callId, blockKey } = execution;
  const { signal } = attempt;
  const { organizationId } = await blocks.find(execution, attempt);
  const memory = createPromptMemory(deps.largeValues.prompts, organizationId);
  let reservedAt: string | undefined;

  async function answer(given: BlockInput): Promise<BlockOutput> {
    const { block, payer } = given;
    const conversation = buildConversation(deps, memory, given);
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
    return inTurn(() => {
      given.begins();
      return askModel({ ...deps, validator }, { ...given, organizationId, conversation, begin }, signal);
    });
  }

  try {
    for (;;) {
      try {
        return await blocks.run(execution, attempt, answer);
      } catch (error) {
        if (!(error instanceof NoRoom) || !attempt.mayWait) throw error;
        await memory.wait(error.chars, signal);
      }
    }
  } catch (error) {
    // An answer that is not recorded yet keeps its reservation. A reservation that is not released now is taken over by the
    // next attempt or released by the reconciler.
    if (reservedAt && !attempt.kept)
      await releaseReservation(deps.db, execution, reservedAt).catch(() => undefined);
    throw error;
  } finally {
    memory.giveBack();
  }
}

/** Builds the conversation once there is memory for it; throws NoRoom when there is none now. */
function buildConversation(
  { registry }: Pick<ActivityDeps, 'registry'>,
  memory: PromptMemory,
  { block, input, message, parameters, outputs, conversation, tools }: BlockInput,
): ToolCallMessage[] {
  const given = { message, previousOutput: input, parameters, outputs };
  const prompt = conversation ? undefined : measurePrompt(registry, block, given, tools);
  const besides = JSON.stringify([block.processor_config?.system, tools]).length;
  const chars = (prompt?.length ?? JSON.stringify(conversation).length) + besides;
  if (!memory.takeNow(chars)) throw new NoRoom(chars);
  return conversation ?? [{ role: 'user', content: prompt?.build() ?? '' }];
}
