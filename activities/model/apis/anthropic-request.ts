// The request of a chat completion in the shape of Anthropic's Messages API.
import type Anthropic from '@anthropic-ai/sdk';
import type { OpenAI } from 'openai';
import { isObject } from '../../../flow/json.ts';
import { parseExactly } from '../../../platform/json-text/parse-exactly.ts';
import { schemaInstruction } from '../../../platform/models/build-messages.ts';
import { toClaudeSchema } from './claude-schema.ts';
import { isSameClaude, toThinking } from './claude-thinking.ts';
import type { ChatParams, PromptCache } from './model-api.ts';

/** The longest answer where neither the block nor the model list has a limit: the API requires one. */
const ANSWER_TOKENS_DEFAULT = 8_192;

type Body = Anthropic.MessageCreateParamsNonStreaming;
type Blocks = Anthropic.ContentBlockParam[];
type Message = OpenAI.Chat.ChatCompletionMessageParam;
type Assistant = OpenAI.Chat.ChatCompletionAssistantMessageParam & { provider_state?: unknown };

/** Translates a request. Fields that the API does not have are left out. */
export function toAnthropicRequest(params: ChatParams, cache?: PromptCache): Body {
  const { model, temperature, top_p, stop, reasoning_effort, tool_choice, response_format } = params;
  const max_tokens = params.max_completion_tokens ?? params.max_tokens ?? ANSWER_TOKENS_DEFAULT;
  const system: Anthropic.TextBlockParam[] = [];
  const written = response_format?.type === 'json_schema' ? response_format.json_schema.schema : undefined;
  const schema = written && toClaudeSchema(written);
  if (written && !schema) system.push(...toTexts(schemaInstruction(written as never)));
  const { messages, stableEnd } = toMessages(params, system, cache?.stable ?? 0);
  const tools = params.tools?.flatMap((tool) => (tool.type === 'function' ? [toTool(tool.function)] : []));
  const choice = toToolChoice(tool_choice, params.parallel_tool_calls);
  const { thinking, output_config } = toThinking(model, reasoning_effort as never, {
    maxTokens: max_tokens,
    hasThought: hasThought(messages),
    isForced: choice?.type === 'any' || choice?.type === 'tool',
  });
  if (cache) markStable(cache, { system, tools, messages, stableEnd });
  const config = {
    ...output_config,
    ...(schema && { format: { type: 'json_schema' as const, schema } }),
  };
  return {
    model,
    max_tokens,
    ...(system.length > 0 && { system }),
    messages,
    ...(tools && { tools }),
    ...(choice && { tool_choice: choice }),
    ...(temperature != null && { temperature }),
    ...(top_p != null && { top_p }),
    ...(stop != null && { stop_sequences: [stop].flat() }),
    ...(thinking && { thinking }),
    ...(Object.keys(config).length > 0 && { output_config: config }),
  };
}

/** `stableEnd`: the number of translated messages that hold the first `stable` messages of the request. */
function toMessages(
  { model, messages: given }: ChatParams,
  system: Anthropic.TextBlockParam[],
  stable: number,
) {
  const messages: Anthropic.MessageParam[] = [];
  let stableEnd = 0;
  for (const [index, message] of given.entries()) {
    if (message.role === 'system' || message.role === 'developer') {
      system.push(...toTexts(message.content));
      continue;
    }
    const isAnswer = message.role === 'assistant';
    const content = isAnswer ? toAnswer(message as Assistant, model) : toQuestion(message);
    const role = isAnswer ? 'assistant' : 'user';
    const last = messages.at(-1);
    // The results of one turn belong into one message, which has nothing before them.
    if (last?.role === role) (last.content as Blocks).push(...content);
    else if (content.length > 0) messages.push({ role, content });
    if (index < stable) stableEnd = messages.length;
  }
  return { messages, stableEnd };
}

/** The API refuses texts that are empty or blank. */
function toTexts(content: string | { type: string; text?: string }[]): Anthropic.TextBlockParam[] {
  const texts = typeof content === 'string' ? [content] : content.map(({ text = '' }) => text);
  return texts.filter((text) => text.trim() !== '').map((text) => ({ type: 'text', text }));
}

function toQuestion(message: Message): Blocks {
  if (message.role === 'tool') {
    const content = toTexts(message.content);
    return [
      {
        type: 'tool_result',
        tool_use_id: message.tool_call_id,
        ...(content.length > 0 && {
          content: typeof message.content === 'string' ? message.content : content,
        }),
      },
    ];
  }
  const { content } = message;
  if (!Array.isArray(content)) return toTexts(content ?? '');
  return content.flatMap((part): Blocks => {
    if (part.type === 'image_url') return [{ type: 'image', source: toImage(part.image_url.url) }];
    return toTexts(part.type === 'text' ? part.text : '');
  });
}

function toImage(url: string): Anthropic.ImageBlockParam['source'] {
  const [, media_type, data] = /^data:([^;,]+)(?:;[^,]*)?;base64,(.*)$/s.exec(url) ?? [];
  if (media_type === undefined || data === undefined) return { type: 'url', url };
  return { type: 'base64', media_type: media_type as 'image/png', data };
}

/**
 * Returns the blocks that the model had written; the tool uses are those of `tool_calls`. A turn of another API, or one whose calls
 * do not fit its blocks any more, is built from its text and calls.
 */
function toAnswer(
  { content, tool_calls: calls = [], provider_state: state }: Assistant,
  model: string,
): Blocks {
  const uses = calls.flatMap((call) => (call.type === 'function' ? [toToolUse(call)] : []));
  const blocks = blocksOf(state, model);
  const places = blocks?.filter(({ type }) => type === 'tool_use').length;
  if (!blocks || places !== uses.length) return [...toTexts((content ?? '') as string), ...uses];
  let next = 0;
  return blocks.map((block) =>
    block.type === 'tool_use' ? ({ ...block, ...uses[next++] } as Blocks[number]) : (block as never),
  );
}

/** Returns the blocks of a turn of this API; undefined for another. Thinking is left out if another Claude thought it. */
function blocksOf(state: unknown, model: string): { type: unknown }[] | undefined {
  if (!isObject(state) || state.api !== 'anthropic' || !Array.isArray(state.content)) return undefined;
  const blocks = state.content.filter(isObject) as unknown as { type: unknown; text?: string }[];
  const isOwn = typeof state.model !== 'string' || isSameClaude(state.model, model);
  return blocks.filter(({ type, text }) =>
    type === 'text' ? text?.trim() : isOwn || !String(type).endsWith('thinking'),
  );
}

function toToolUse({
  id,
  function: { name, arguments: text },
}: OpenAI.ChatCompletionMessageFunctionToolCall) {
  return { type: 'tool_use' as const, id, name, input: toInput(text) };
}

/** Returns the arguments as an object that is serialized digit for digit. */
function toInput(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return {};
  try {
    return parseExactly(text);
  } catch {
    return {};
  }
}

/** Whether the last turn of the model, if it called tools, begins with its thinking. */
function hasThought(messages: Anthropic.MessageParam[]): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant')?.content;
  const blocks = Array.isArray(last) ? last : [];
  if (!blocks.some(({ type }) => type === 'tool_use')) return true;
  return blocks[0]?.type === 'thinking' || blocks[0]?.type === 'redacted_thinking';
}

function toTool({ name, description, parameters, strict }: OpenAI.FunctionDefinition): Anthropic.Tool {
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: { ...parameters, type: 'object' },
    ...(strict && { strict }),
  };
}

function toToolChoice(
  choice: ChatParams['tool_choice'],
  parallel: boolean | undefined,
): Anthropic.ToolChoice | undefined {
  const single = parallel === false ? { disable_parallel_tool_use: true } : {};
  if (choice === 'none') return { type: 'none' };
  if (choice === 'required') return { type: 'any', ...single };
  if (typeof choice === 'object' && choice.type === 'function')
    return { type: 'tool', name: choice.function.name, ...single };
  return choice === 'auto' || parallel === false ? { type: 'auto', ...single } : undefined;
}

/** Marks what is the same in each request, and where the conversation goes on, for the provider's cache. */
function markStable(
  { ttl, continues }: PromptCache,
  parts: {
    system: Anthropic.TextBlockParam[];
    tools: Anthropic.Tool[] | undefined;
    messages: Anthropic.MessageParam[];
    stableEnd: number;
  },
): void {
  const { system, tools, messages, stableEnd } = parts;
  const cache_control = { type: 'ephemeral' as const, ...(ttl === '1h' && { ttl }) };
  const lastBlock = (message: Anthropic.MessageParam | undefined) =>
    (message?.content as Blocks | undefined)?.at(-1);
  const places = [
    system.at(-1) ?? tools?.at(-1),
    stableEnd > 0 ? lastBlock(messages[stableEnd - 1]) : undefined,
    continues ? lastBlock(messages.at(-1)) : undefined,
  ];
  for (const place of places) if (place) Object.assign(place, { cache_control });
}
