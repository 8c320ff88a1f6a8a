// Anthropic's Messages API: a message in the shape of a chat completion.
import { isObject } from '../../../flow/json.ts';

type Fields = { [field: string]: unknown };

const FINISH_REASONS: { [reason: string]: string } = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  refusal: 'content_filter',
};

/**
 * Translates a message. Its blocks, with the signatures of its thinking, become `provider_state`; the input of a tool use is only
 * in its tool call. A stop reason that has no counterpart stays as it is.
 */
export function messageToCompletion(answer: unknown): unknown {
  if (!isObject(answer) || (answer.type !== 'message' && answer.role !== 'assistant')) return answer;
  const { id, model, stop_reason: reason, stop_details: details, usage, content, error } = answer as Fields;
  // Some gateways send the text alone.
  const given = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(given)) return answer;
  const blocks = given.filter(isObject) as Fields[];
  const textOf = (type: string, field: string) =>
    blocks.flatMap((block) => (block.type === type ? [String(block[field] ?? '')] : [])).join('');
  const text = textOf('text', 'text');
  const thinking = textOf('thinking', 'thinking');
  const calls = blocks.filter(({ type }) => type === 'tool_use').map(toToolCall);
  const explanation = (details as Fields | null | undefined)?.explanation;
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(reason === 'refusal' && typeof explanation === 'string' && { refusal: explanation }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(blocks.length > 0 && {
      provider_state: { api: 'anthropic', model, content: blocks.map(withoutInput) },
    }),
  };
  const finish_reason = typeof reason === 'string' ? (FINISH_REASONS[reason] ?? reason) : undefined;
  return { id, model, choices: [{ index: 0, message, finish_reason }], usage: toUsage(usage), error };
}

function toToolCall({ id, name, input }: Fields) {
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
  return { id, type: 'function', function: { name, arguments: text } };
}

function withoutInput(block: Fields): Fields {
  if (block.type !== 'tool_use') return block;
  const { input: _, ...rest } = block;
  return rest;
}

/** Names the tokens of thinking as others do. The other counts are read as they are: some gateways leave some out. */
function toUsage(usage: unknown): unknown {
  if (!isObject(usage)) return undefined;
  const { thinking_tokens } = Object(usage.output_tokens_details) as Fields;
  return thinking_tokens === undefined ? usage : { ...usage, reasoning_tokens: thinking_tokens };
}
