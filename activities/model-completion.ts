// One chat completion over HTTP, and what its answer says.
import { randomUUID } from 'node:crypto';
import type { OpenAI } from 'openai';
import { z } from 'zod';
import type { Provider } from '../config.ts';
import { ServiceError } from '../flow/errors.ts';
import type { ToolCall } from '../flow/tool-calls.ts';
import type { TokenUsage } from '../models/registry.ts';
import { modelClient } from './model-client.ts';
import { modelError, providerMessage } from './model-error.ts';
import { ModelUnavailable } from './model-unavailable.ts';

/** A count that a provider leaves out or gets wrong is 0. */
const tokenCount = z.int().nonnegative().catch(0);
const toolCall = z.object({
  id: z.string().nullish(),
  type: z.literal('function').default('function'),
  function: z.object({ name: z.string(), arguments: z.string().nullish() }),
  // Google's signature of its thoughts, which it wants back.
  extra_content: z.unknown().optional(),
});
const choice = z.object({
  message: z.object({
    content: z.string().nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(toolCall).nullish(),
  }),
  finish_reason: z.string().nullish(),
});
const completion = z.object({
  choices: z.tuple([choice], z.unknown()),
  usage: z.object({ prompt_tokens: tokenCount, completion_tokens: tokenCount }).nullish(),
});
/** What some gateways answer with status 200. */
const gatewayError = z.object({ error: z.object({ message: z.string() }) });

/** What a model says: text, or the tools it asks for. */
export type ChatAnswer = { text: string; toolCalls: ToolCall[] };

/**
 * Answers the text; `model` is provider-prefixed. Tells `count` what an answer has used before it looks at what it says.
 * Throws ModelUnavailable, ServiceError, or the signal's reason when aborted.
 */
export async function completeChat(
  provider: Provider,
  model: string,
  params: Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'model'>,
  signal: AbortSignal,
  count: (usage: TokenUsage) => void,
): Promise<ChatAnswer> {
  const name = model.slice(model.indexOf('/') + 1);
  let answer: unknown;
  try {
    answer = await modelClient(provider).chat.completions.create({ ...params, model: name }, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw modelError(error, model, provider);
  }

  const parsed = completion.safeParse(answer);
  if (!parsed.success) {
    const said = gatewayError.safeParse(answer).data?.error.message ?? 'it is not a chat completion';
    throw new ModelUnavailable(`The answer of ${model} can't be used: ${providerMessage(said, provider)}`);
  }
  const { usage } = parsed.data;
  count({
    promptTokens: usage?.prompt_tokens ?? 0,
    completionTokens: usage?.completion_tokens ?? 0,
  });
  const { message, finish_reason: finishReason } = parsed.data.choices[0];
  if (message.refusal || finishReason === 'content_filter') {
    const said = providerMessage(message.refusal || 'its content filter stopped the answer', provider);
    throw new ServiceError('MODEL_REFUSED', `${model} refused to answer: ${said}`, { model });
  }
  if (finishReason === 'length') {
    throw new ServiceError(
      'MODEL_OUTPUT_INVALID',
      `The answer of ${model} was cut off at its token limit. Raise processor_config.max_tokens or ask for less.`,
      { model },
    );
  }
  return { text: message.content ?? '', toolCalls: withIds(message.tool_calls ?? []) };
}

/** Results are matched by id: a call that comes without one, or with that of another, gets a new one. */
function withIds(calls: z.infer<typeof toolCall>[]): ToolCall[] {
  const taken = new Set<string>();
  return calls.map((call) => {
    const id = call.id && !taken.has(call.id) ? call.id : `call_${randomUUID()}`;
    taken.add(id);
    return {
      ...call,
      id,
      function: { name: call.function.name, arguments: call.function.arguments ?? '{}' },
    };
  });
}
