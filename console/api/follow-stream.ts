import { ApiError, toApiError } from './api-error.ts';
import { authorizedFetch } from './authorized-fetch.ts';
import type { FollowOptions } from './follow-options.ts';

type StreamEvent = { event: string; data: unknown; id: string | undefined };

/** The error code of a response that did not come from the service: the service may have received the request. */
const NOT_OURS = 'UNKNOWN';
const PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 5_000;

/**
 * Reads a stream up to its last event. After an interruption it reconnects with the id of the last event. Throws an
 * ApiError when the request is refused. A POST starts what it follows: until it may have done so, any error response of
 * the service is a refusal, unless the response names the run.
 */
export async function followStream(path: string, init: RequestInit, options: FollowOptions): Promise<void> {
  const { isLast, onEvent, onInterrupted, onNamed, signal } = options;
  let lastId: string | undefined;
  let mayHaveStarted = init.method !== 'POST';
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      const headers = new Headers(init.headers);
      if (lastId !== undefined) headers.set('last-event-id', lastId);
      for await (const event of streamEvents(path, { ...init, headers, signal })) {
        if (event.event === 'stream_interrupted') break;
        failures = 0;
        lastId = event.id ?? lastId;
        onEvent(event);
        if (isLast(event)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isRefusal(error, mayHaveStarted)) throw error;
      const named = error instanceof ApiError && error.detail.executionId;
      if (typeof named === 'string') onNamed?.(named);
    }
    mayHaveStarted = true;
    if (signal.aborted || (await onInterrupted().catch(() => false))) return;
    await new Promise((resolve) =>
      setTimeout(resolve, Math.min(PAUSE_MS * Math.max(1, failures), PAUSE_MAX_MS)),
    );
  }
}

/**
 * Whether the request was refused for good. Anything that may have started is asked for again where a repetition may
 * help. A 204 means that no event is left.
 */
function isRefusal(error: unknown, mayHaveStarted: boolean): boolean {
  if (!(error instanceof ApiError) || error.status < 400) return false;
  const mayHelp = error.status >= 500 || [408, 429].includes(error.status);
  const isOfProxy = error.code === NOT_OURS && error.status >= 502;
  return !mayHelp || !(mayHaveStarted || isOfProxy || error.detail.executionId !== undefined);
}

/**
 * Sends a request whose response is a stream of Server-Sent Events, and yields the events. Comments are skipped. Throws
 * an ApiError when the request is refused, and an AbortError when the signal aborts.
 */
async function* streamEvents(path: string, init: RequestInit = {}): AsyncGenerator<StreamEvent> {
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
