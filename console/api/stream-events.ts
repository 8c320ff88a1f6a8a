import { toApiError } from './api-error.ts';
import { authorizedFetch } from './authorized-fetch.ts';

type StreamEvent = { event: string; data: unknown; id: string | undefined };

/**
 * Sends a request whose response is a stream of Server-Sent Events, and yields the events. Comments are skipped. Throws
 * an ApiError when the request is refused, and an AbortError when the signal aborts.
 */
export async function* streamEvents(path: string, init: RequestInit = {}): AsyncGenerator<StreamEvent> {
  const response = await authorizedFetch(new Request(new URL(path, location.origin), init));
  if (!response.ok || !response.body) throw await toApiError(response);
  let rest = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + value).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const event = parseEvent(part);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parseEvent(text: string): StreamEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined)
      fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : (value ?? ''));
  }
  const data = fields.get('data');
  if (data === undefined) return undefined;
  return { event: fields.get('event') ?? 'message', data: JSON.parse(data), id: fields.get('id') };
}
