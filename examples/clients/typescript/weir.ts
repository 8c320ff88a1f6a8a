// Calls Weir as a good client does: repeats requests safely, resumes streams after a break, explains errors.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

const { WEIR_URL = 'http://127.0.0.1:8787', WEIR_API_KEY = '' } = process.env;
const TRIES = 5;

/** A call that the model makes, and its result. `arguments` is JSON text. */
export type ToolCall = { id: string; type: 'function'; function: { name: string; arguments: string } };
export type ToolResult = { role: 'tool'; tool_call_id: string; content: string };

/** The answer of a paused run; everything except `toolCalls` is sent back with the results. */
export type Pause = {
  executionId: string;
  pausedAtStep: string;
  iterationsUsed: number;
  toolCallMessages: object[];
  toolCalls: ToolCall[];
  accumulatedOutputs: object;
  resumeState: string;
};

/** The answer of /execute. */
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

/** Calls a path below /api/v1/seq. It may repeat the request: with one Idempotency-Key that starts only one run. */
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

/** The same for Server-Sent Events. After a break, asks for those after the last one. */
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
      // The stream ended with stream_interrupted, which has no id, or was cut off.
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

/** Waits for another try after 429, a 5xx or no answer; throws on anything else. */
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
      // `name: value` a line. Lines without a name are comments, which keep the connection open.
      const fields = message.split('\n').map((line) => /^(\w*): ?(.*)$/.exec(line)?.slice(1) ?? []);
      const { id, event = '', data } = Object.fromEntries(fields) as Record<string, string | undefined>;
      if (id !== undefined && data !== undefined) yield { id, event, data: JSON.parse(data) as unknown };
    }
  }
}
