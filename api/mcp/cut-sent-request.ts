import type { Json } from '../../flow/definition.ts';
import { cutJson, cutText } from '../http/cut-json.ts';
import type { Sent } from '../runs/read-sent-request.ts';

/** Cuts a request to about `maxChars` characters. */
export function cutSentRequest(sent: Sent, maxChars: number): Json {
  if (typeof sent === 'string') return cutText(sent, maxChars);
  const share = Math.floor(maxChars / sent.messages.length);
  const cut = (value: unknown) =>
    typeof value === 'string' ? cutText(value, share) : cutJson((value ?? null) as Json, share);
  return {
    ...sent,
    messages: sent.messages.map(({ role, content, tool_calls }) => ({
      role,
      content: cut(content),
      ...(tool_calls !== undefined && { tool_calls: cut(tool_calls) }),
    })),
  };
}
