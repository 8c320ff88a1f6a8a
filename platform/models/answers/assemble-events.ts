// Puts together the answer of Anthropic's Messages API or OpenAI's Responses from the events of its stream.
import { isObject } from '../../../flow/json.ts';

type Fields = { [field: string]: unknown };

export const EARLY_END = 'its stream ended too early';

/**
 * Makes a message or a response of the parsed events; undefined where they are of another API. An answer that is not whole has an
 * `error`.
 */
export function assembleEvents(parsed: unknown[]): Fields | undefined {
  const events = parsed.filter((event) => isObject(event) && typeof event.type === 'string') as Fields[];
  if (events.some(({ type }) => type === 'message_start')) return assembleMessage(events);
  if (events.some(({ type }) => String(type).startsWith('response.'))) return assembleResponse(events);
  const failed = events.find(({ type }) => type === 'error');
  return failed && { error: failed.error ?? failed };
}

function assembleMessage(events: Fields[]): Fields {
  const message: Fields = {};
  const usage: Fields = {};
  const blocks: Fields[] = [];
  let error: unknown = { message: EARLY_END };
  for (const event of events) {
    const { type, index, delta } = event;
    if (type === 'message_start') {
      Object.assign(message, event.message);
      Object.assign(usage, message.usage);
    } else if (type === 'content_block_start') blocks[Number(index)] = { ...(event.content_block as Fields) };
    else if (type === 'content_block_delta') addDelta(blocks[Number(index)], delta);
    else if (type === 'message_delta') {
      Object.assign(message, delta);
      for (const [field, value] of Object.entries(Object(event.usage)))
        if (value !== null) usage[field] = value;
    } else if (type === 'message_stop') error = undefined;
    else if (type === 'error') error = event.error ?? { message: EARLY_END };
  }
  return { ...message, content: blocks.filter(isObject), usage, ...(error !== undefined && { error }) };
}

/** Adds a part to a block. The input of a tool stays text, so that its numbers keep their digits. */
function addDelta(block: Fields | undefined, delta: unknown): void {
  if (!block || !isObject(delta)) return;
  const { text, thinking, signature, partial_json } = delta as Fields;
  for (const [field, part] of Object.entries({ text, thinking, signature, input: partial_json })) {
    const before = block[field];
    if (typeof part === 'string') block[field] = typeof before === 'string' ? before + part : part;
  }
}

/** The last events have the whole response, but some servers leave its output to the events of the items. */
function assembleResponse(events: Fields[]): Fields {
  const ended = events.findLast(({ type }) => /^response\.(completed|incomplete|failed)$/.test(String(type)));
  const items = events.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []));
  const response = (ended ?? events.findLast((event) => isObject(event.response)))?.response as Fields;
  const output = Array.isArray(response?.output) && response.output.length > 0 ? response.output : items;
  if (ended) return { object: 'response', ...response, output };
  const failed = events.find(({ type }) => type === 'error');
  const error = failed ?? { code: 'server_error', message: EARLY_END };
  return { ...response, object: 'response', output, status: 'failed', error };
}
