// What some servers of Chat Completions need beyond the request.
import { createHash } from 'node:crypto';
import type { Provider } from '../../../platform/config/config.ts';
import { toCallId } from '../../../platform/models/assistant-state.ts';
import { addInstruction } from '../../../platform/models/build-messages.ts';
import type { ChatParams, PromptCache } from './model-api.ts';

type Message = ChatParams['messages'][number];
type Hint = { [field: string]: unknown };

/** From this generation on, OpenAI caches a prompt only up to where a hint says that it stays the same, or to its end. */
const EXPLICIT_CACHE = /^gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/;

/** The ids of tool calls that Mistral takes; those of a conversation may come from a server of another maker. */
const MISTRAL_ID = /^[a-zA-Z0-9]{9}$/;

/** Returns the request for the server of `provider`. */
export function withHints(
  params: ChatParams,
  provider: Provider,
  cache: PromptCache | undefined,
): ChatParams {
  // Anthropic's OpenAI layer ignores `response_format`.
  const { preset = provider.name } = provider;
  const taken = preset === 'mistral' ? withMistralIds(params) : params;
  const asked = preset === 'anthropic' ? withInstruction(taken) : taken;
  if (!cache) return asked;
  if (preset === 'openrouter' && asked.model.startsWith('anthropic/')) {
    const cache_control = { type: 'ephemeral', ...(cache.ttl === '1h' && { ttl: cache.ttl }) };
    const ends = [cache.stable - 1, cache.continues ? asked.messages.length - 1 : -1];
    return { ...asked, messages: markTexts(asked.messages, ends, { cache_control }) };
  }
  // Mistral finds the start of a prompt again by the key alone.
  if (preset === 'mistral') return { ...asked, prompt_cache_key: cacheKey(asked, Math.max(cache.stable, 1)) };
  const key = explicitCacheKey(asked, provider, cache);
  if (key === undefined) return asked;
  const marked = markTexts(asked.messages, [lastMarkable(asked, cache)], {
    prompt_cache_breakpoint: { mode: 'explicit' },
  });
  return { ...asked, messages: marked, prompt_cache_key: key };
}

/** Returns the last place that OpenAI takes a mark at, of the messages that stay the same. */
export function lastMarkable({ messages }: ChatParams, { stable }: PromptCache): number {
  return messages.slice(0, stable).findLastIndex(({ role }) => role !== 'assistant');
}

/** Returns the key under which OpenAI finds the start of a prompt again; undefined where it needs no hint. */
export function explicitCacheKey(
  params: ChatParams,
  { name, preset = name }: Provider,
  { stable }: PromptCache,
): string | undefined {
  const isExplicit = ['openai', 'azure'].includes(preset) && EXPLICIT_CACHE.test(params.model);
  return isExplicit && stable > 0 ? cacheKey(params, stable) : undefined;
}

/** Makes a key of the first messages of a request, and of its tools. */
function cacheKey({ messages, tools }: ChatParams, count: number): string {
  const start = JSON.stringify([messages.slice(0, count), tools]);
  return createHash('sha256').update(start).digest('base64url').slice(0, 32);
}

/** Gives tool calls and their results other ids where Mistral would not take theirs. */
function withMistralIds(params: ChatParams): ChatParams {
  const toTaken = (id: string) => (MISTRAL_ID.test(id) ? id : toCallId(id));
  const messages = params.messages.map((message) => {
    if (message.role === 'tool') return { ...message, tool_call_id: toTaken(message.tool_call_id) };
    if (message.role !== 'assistant' || !message.tool_calls) return message;
    return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: toTaken(call.id) })) };
  });
  return { ...params, messages };
}

/** Puts the schema of the answer into the instructions. */
function withInstruction(params: ChatParams): ChatParams {
  const { response_format: format, ...rest } = params;
  if (format?.type !== 'json_schema') return params;
  const messages = [...rest.messages];
  addInstruction(messages, (format.json_schema.schema ?? true) as never);
  return { ...rest, messages };
}

/** Adds a hint to the last text of the messages at `places`. */
function markTexts(messages: Message[], places: number[], hint: Hint): Message[] {
  return messages.map((message, index) => {
    const { content } = message;
    if (!places.includes(index) || !content) return message;
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const last = parts.findLastIndex(({ type }) => type === 'text');
    const marked = parts.map((part, place) => (place === last ? { ...part, ...hint } : part));
    return { ...message, content: marked } as Message;
  });
}
