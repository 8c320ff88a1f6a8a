// The request of a chat completion in the shape of OpenAI's Responses API.
import type { OpenAI } from 'openai';
import { isObject } from '../../../flow/json.ts';
import { withoutNulls } from '../../../platform/models/assistant-state.ts';
import type { ChatParams } from './model-api.ts';

type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type Items = OpenAI.Responses.ResponseInputItem[];
type Assistant = OpenAI.Chat.ChatCompletionAssistantMessageParam & { provider_state?: unknown };
type Hint = { prompt_cache_breakpoint: { mode: 'explicit' } };

/** Names of models that are known not to reason. */
const PLAIN_MODEL = /^(ft:)?(chatgpt|gpt-[34](?!\d)|gpt-5-chat)/;

/** Whether a model may reason; one of any other name, such as a deployment's, may. */
export function mayReason(model: string): boolean {
  return !PLAIN_MODEL.test(model);
}

/**
 * Translates a request; nothing of it is stored at the provider. `breakAt`: the message that ends what a cache may keep;
 * `isEncrypted`: whether reasoning is asked for in encrypted form.
 */
export function toResponsesRequest(
  params: ChatParams,
  { breakAt = -1, cacheKey = '', isEncrypted = false } = {},
): Body {
  const { model, temperature, top_p, reasoning_effort, tools, tool_choice, response_format } = params;
  const limit = params.max_completion_tokens ?? params.max_tokens;
  const input = params.messages.flatMap((message, index) =>
    toItems(message, index === breakAt ? { prompt_cache_breakpoint: { mode: 'explicit' } } : undefined),
  );
  return {
    model,
    input,
    store: false,
    ...(isEncrypted && { include: ['reasoning.encrypted_content'] }),
    ...(limit != null && { max_output_tokens: limit }),
    ...(temperature != null && { temperature }),
    ...(top_p != null && { top_p }),
    // The API has no such fields: it refuses them with its own words, where the setting would otherwise have no effect.
    ...(params.stop != null && { stop: params.stop }),
    ...(params.seed != null && { seed: params.seed }),
    ...(reasoning_effort && { reasoning: { effort: reasoning_effort } }),
    ...(response_format?.type === 'json_schema' && {
      text: { format: toFormat(response_format.json_schema) },
    }),
    ...(tools && {
      tools: tools.flatMap((tool) => (tool.type === 'function' ? [toTool(tool.function)] : [])),
    }),
    ...(tool_choice && { tool_choice: toToolChoice(tool_choice) }),
    ...(params.parallel_tool_calls != null && { parallel_tool_calls: params.parallel_tool_calls }),
    ...(cacheKey && { prompt_cache_key: cacheKey }),
  };
}

function toItems(message: OpenAI.Chat.ChatCompletionMessageParam, hint?: Hint): Items {
  if (message.role === 'tool') {
    const output = typeof message.content === 'string' ? message.content : JSON.stringify(message.content);
    return [{ type: 'function_call_output', call_id: message.tool_call_id, output }];
  }
  if (message.role === 'assistant') return toAnswer(message);
  if (message.role === 'function') return [];
  const { content } = message;
  if (typeof content === 'string' && !hint) return [{ role: message.role, content }];
  const given = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const parts = given.map((part): OpenAI.Responses.ResponseInputContent => {
    if (part.type === 'image_url')
      return { type: 'input_image', image_url: part.image_url.url, detail: part.image_url.detail ?? 'auto' };
    return { type: 'input_text', text: part.type === 'text' ? part.text : '' };
  });
  const last = parts.findLastIndex(({ type }) => type === 'input_text');
  return [
    {
      role: message.role,
      content: parts.map((part, place) => (place === last ? { ...part, ...hint } : part)),
    },
  ];
}

/**
 * Returns the items that the model had written, without their nulls; the calls are those of `tool_calls`, as its results name them.
 * Where reasoning is neither encrypted nor written out, the text and the calls alone: nothing is stored, so the provider does not
 * know its id, and refuses items that name reasoning it does not get.
 */
function toAnswer({ content, tool_calls: calls = [], provider_state: state }: Assistant): Items {
  const called = calls.flatMap((call) => (call.type === 'function' ? [toCall(call)] : []));
  const items = itemsOf(state);
  const places = items?.filter(({ type }) => type === 'function_call').length;
  const text = typeof content === 'string' ? content : '';
  if (!items || places !== called.length)
    return [...(text === '' ? [] : [{ role: 'assistant' as const, content: text }]), ...called];
  let next = 0;
  return items.map((item) =>
    withoutNulls(item.type === 'function_call' ? { ...item, ...called[next++] } : item),
  ) as unknown as Items;
}

function itemsOf(state: unknown): { type: unknown }[] | undefined {
  if (!isObject(state) || state.api !== 'openai-responses' || !Array.isArray(state.output)) return undefined;
  type Item = { type: unknown; encrypted_content?: unknown; content?: unknown };
  const items = state.output.filter(isObject) as unknown as Item[];
  const isWhole = items.every(
    ({ type, encrypted_content, content }) =>
      type !== 'reasoning' || encrypted_content || (Array.isArray(content) && content.length > 0),
  );
  return isWhole ? items : undefined;
}

function toCall({ id, function: called }: OpenAI.Chat.ChatCompletionMessageFunctionToolCall) {
  return { type: 'function_call' as const, call_id: id, name: called.name, arguments: called.arguments };
}

function toTool({
  name,
  description,
  parameters,
  strict,
}: OpenAI.FunctionDefinition): OpenAI.Responses.FunctionTool {
  return {
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    parameters: parameters ?? { type: 'object', properties: {} },
    // Absent would be true, other than in Chat Completions.
    strict: strict ?? false,
  };
}

function toToolChoice(choice: NonNullable<ChatParams['tool_choice']>): Body['tool_choice'] {
  if (typeof choice === 'string') return choice;
  return choice.type === 'function' ? { type: 'function', name: choice.function.name } : 'auto';
}

function toFormat({ name, schema = {}, strict }: OpenAI.ResponseFormatJSONSchema['json_schema']) {
  return { type: 'json_schema' as const, name, schema, ...(strict != null && { strict }) };
}
