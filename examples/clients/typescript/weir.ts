// Calls of Weir as a good client makes them: safely repeated, streams taken up where they broke off, errors in words.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

const { WEIR_URL = 'http://127.0.0.1:8787', WEIR_API_KEY = '' } = process.env;
const TRIES = 5;

/** What the model asks for, and what answers it. `arguments` is JSON text. */
export type ToolCall = { id: string; type: 'function'; function: { name: string; arguments: string } };
export type ToolResult = { role: 'tool'; tool_call_id: string; content: string };

/** What a paused run answers; all but `toolCalls` is sent back with the results. */
export type Pause = {
  executionId: string;
  pausedAtStep: string;
  iterationsUsed: number;
  toolCallMessages: object[];
  toolCalls: ToolCall[];
  accumulatedOutputs: object;
  resumeState: string;
};

/** What /execute answers. */
export type Execution =
  | { status: 'completed'; executionId: string; result: unknown }
  | { status: 'failed'; executionId: string; errorMessage: string; failureReason: string }
  | ({ status: 'tool_calls_required' } & Pause);

/** A refusal by Weir. */
export class WeirError extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number;

  constructor(status: number, message: string, retryAfterSeconds: number) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Calls a path below /api/v1/seq. However often it has to be repeated, its Idempotency-Key lets it start one run. */
export async function call<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
  const headers = { 'Idempotency-Key': randomUUID() };
  for (let attempt = 1; ; attempt++) {
    try {
      return (await (await request(method, path, headers, body)).json()) as T;
    } catch (error) {
      await waitOrThrow(error, attempt);
    }
  }
}

/** The same for an answer of Server-Sent Events; when they break off, asks for those after the last one it has. */
export async function* stream<T extends { event: string }>(
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): AsyncGenerator<T> {
  const headers: Record<string, string> = { 'Idempotency-Key': randomUUID() };
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await request(method, path, headers, body);
      for await (const { id, ...event } of readEvents(response)) {
        headers['Last-Event-ID'] = id;
        attempt = 0;
        yield event as unknown as T;
        if (/^(run_completed|run_failed|step_paused)/.test(event.event)) return;
      }
      // It says so with stream_interrupted, which has no id, or is cut.
      throw new Error('The stream of events broke off.');
    } catch (error) {
      await waitOrThrow(error, attempt);
    }
  }
}

async function request(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
): Promise<Response> {
  const response = await fetch(`${WEIR_URL}/api/v1/seq/${path}`, {
    method,
    headers: { ...headers, Authorization: `Bearer ${WEIR_API_KEY}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.ok) return response;
  const text = await response.text();
  const retryAfter = Number(response.headers.get('Retry-After'));
  throw new WeirError(response.status, `Weir answered ${response.status}: ${text}`, retryAfter);
}

/** Another try is worth it after 429, a 5xx, or no answer at all. */
async function waitOrThrow(error: unknown, attempt: number): Promise<void> {
  const refused = error instanceof WeirError && error.status < 500 && error.status !== 429;
  if (refused || attempt >= TRIES) throw error;
  const told = error instanceof WeirError ? error.retryAfterSeconds : 0;
  await setTimeout(1000 * (told || 2 ** attempt / 2));
}

async function* readEvents(response: Response) {
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const messages = (text + chunk).split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const [, id = '', event = '', data] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(message) ?? [];
      if (data !== undefined) yield { id, event, data: JSON.parse(data) as unknown };
    }
  }
}
