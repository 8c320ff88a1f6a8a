// OpenAI's Responses API: a response in the shape of a chat completion.
import { isObject } from '../../../flow/json.ts';

type Fields = { [field: string]: unknown };

/**
 * Translates a response. Its output items, with encrypted reasoning, become `provider_state`. A response that failed becomes an
 * error, as gateways report one with status 200.
 */
export function responseToCompletion(answer: unknown): unknown {
  if (!isObject(answer) || answer.choices !== undefined) return answer;
  const items = (Array.isArray(answer.output) ? answer.output : []).filter(isObject) as Fields[];
  if (answer.object !== 'response' && !items.some(({ type }) => typeof type === 'string')) return answer;
  const { id, model, status, usage, service_tier, error } = answer as Fields;
  if (items.length === 0 && error) return { id, model, usage, error: toError(error) };
  const said = items.filter(({ type }) => type === 'message');
  const final = said.filter(({ phase }) => phase !== 'commentary');
  // What a model says on its way is no part of its answer.
  const parts = (final.length > 0 ? final : said).flatMap(({ content }) => listParts(content));
  const text = joinTexts(parts, 'output_text', 'text') || joinTexts(parts, 'text', 'text');
  const refusal = joinTexts(parts, 'refusal', 'refusal');
  const thoughts = items.filter(({ type }) => type === 'reasoning');
  const reasoning = thoughts
    .flatMap(({ summary, content }) => [...listParts(summary), ...listParts(content)])
    .flatMap((part) => (typeof part.text === 'string' ? [part.text] : []))
    .join('\n\n');
  const calls = items.filter(({ type }) => type === 'function_call').map(toToolCall);
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(refusal !== '' && { refusal }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(items.length > 0 && { provider_state: { api: 'openai-responses', output: items } }),
  };
  const choice = {
    index: 0,
    message,
    finish_reason: finishReason(answer as Fields, items, calls.length > 0),
    ...(status === 'failed' && { error: toError(error) }),
  };
  return { id, model, choices: [choice], usage, service_tier };
}

function listParts(content: unknown): Fields[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? (content.filter(isObject) as Fields[]) : [];
}

function joinTexts(parts: Fields[], type: string, field: string): string {
  return parts.flatMap((part) => (part.type === type ? [String(part[field] ?? '')] : [])).join('');
}

function toToolCall({ call_id, name, arguments: text }: Fields) {
  return { id: call_id, type: 'function', function: { name, arguments: text } };
}

/** A status or reason that has no counterpart stays as it is. */
function finishReason(
  { status, incomplete_details: details }: Fields,
  items: Fields[],
  hasCalls: boolean,
): unknown {
  if (status === 'completed' || status === undefined) {
    // Some gateways leave only this of an answer that broke off.
    if (items.some((item) => item.status === 'incomplete')) return 'incomplete';
    return hasCalls ? 'tool_calls' : 'stop';
  }
  if (status === 'failed') return 'error';
  const reason = status === 'incomplete' ? (Object(details) as Fields).reason : undefined;
  return reason === 'max_output_tokens' ? 'length' : (reason ?? status);
}

/** The codes of failed responses that are like statuses of Chat Completions; others say what was wrong with the request. */
const STATUSES: { [code: string]: number } = {
  server_error: 502,
  rate_limit_exceeded: 429,
  vector_store_timeout: 504,
};

function toError(error: unknown): { message: string; code: number; type?: unknown } {
  const { message, code } = Object(error) as Fields;
  const text = typeof message === 'string' ? message : 'its provider failed while it answered';
  if (typeof code !== 'string') return { message: text, code: 502 };
  return { message: text, code: STATUSES[code] ?? 400, type: code };
}
