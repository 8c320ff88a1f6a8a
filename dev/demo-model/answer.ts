// The answer of the demo model, which depends on the conversation alone.
import { type ChatMessage, type ChatRequest, imageCount } from './chat-request.ts';
import { instanceOf } from './instance-of-schema.ts';

const CHARACTERS_PER_TOKEN = 4;
const QUOTE_MAX_LENGTH = 400;
/** Only the beginning of a long text is read. */
const READ_MAX_LENGTH = 20_000;

type ToolCall = { id: string; type: 'function'; function: { name: string; arguments: string } };
export type Answer = {
  content: string | null;
  toolCalls: ToolCall[];
  finishReason: 'stop' | 'length' | 'tool_calls';
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
};

/**
 * Answers a chat request. It quotes the last user message, or the tool results after it; fills the response schema
 * where there is one; calls the tools that the tool choice demands or the last user message names, with ids made of
 * `seed`. Four characters count as a token.
 */
export function answerChat(request: ChatRequest, seed: string): Answer {
  const afterUser = request.messages.findLastIndex(({ role }) => role === 'user') + 1;
  const user = request.messages[afterUser - 1];
  const results = request.messages.slice(afterUser).filter(({ role }) => role === 'tool');
  const prompt = user ? textOf(user) : '';
  const source = (results.length > 0 ? results.map(textOf).join('; ') : prompt).slice(0, READ_MAX_LENGTH);
  const words = source.match(/[\p{L}\p{N}]+/gu) ?? ['demo'];

  const toolCalls = results.length > 0 ? [] : callTools(request, prompt, words, seed);
  const called = toolCalls.length > 0;
  const images = user ? imageCount(user) : 0;
  const full = called ? JSON.stringify(toolCalls) : say(request, source, words, results.length, images);
  const limit = request.max_completion_tokens ?? request.max_tokens ?? Infinity;
  const text = full.slice(0, limit * CHARACTERS_PER_TOKEN).toWellFormed();

  const promptTokens = request.messages.reduce((sum, message) => sum + countTokens(textOf(message)), 0);
  const completionTokens = countTokens(called ? full : text);
  return {
    content: called ? null : text,
    toolCalls,
    finishReason: called ? 'tool_calls' : text.length < full.length ? 'length' : 'stop',
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  };
}

function say(request: ChatRequest, source: string, words: string[], results: number, images: number): string {
  const format = request.response_format;
  const schema = format?.type === 'json_schema' ? format.json_schema.schema : instructedSchema(request);
  if (schema !== undefined) return JSON.stringify(instanceOf(schema, words));
  const quote = source.slice(0, QUOTE_MAX_LENGTH).trim();
  const seen = images > 0 ? ` (with ${images} image${images > 1 ? 's' : ''})` : '';
  const text = `Demo answer ${results > 0 ? 'from tool results' : 'to'}${seen}: ${quote}`;
  return format?.type === 'json_object' ? JSON.stringify({ answer: text }) : text;
}

/** Finds the schema in a system message that mentions a JSON Schema, as a model without schema support would. */
function instructedSchema(request: ChatRequest): unknown {
  const system = request.messages.find(({ role }) => role === 'system' || role === 'developer');
  const text = system ? textOf(system) : '';
  if (!text.includes('JSON Schema')) return undefined;
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  } catch {
    return undefined;
  }
}

function callTools(request: ChatRequest, prompt: string, words: string[], seed: string): ToolCall[] {
  const { tools = [], tool_choice: choice = 'auto' } = request;
  let chosen = tools.filter((tool) => choice === 'auto' && prompt.includes(tool.function.name));
  if (choice === 'required') chosen = tools.slice(0, 1);
  if (typeof choice === 'object')
    chosen = tools.filter((tool) => tool.function.name === choice.function.name);
  return chosen.map(({ function: { name, parameters } }, index) => ({
    id: `call_${seed}${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(instanceOf({ type: 'object', ...parameters }, words)) },
  }));
}

function countTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

/** Returns the text of a message, its parts joined by line breaks. */
function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap(({ text }) => text ?? []).join('\n');
}
