// The server behind the models `demo/…`: OpenAI-compatible, local and deterministic. Its models deviate from OpenAI's on request
// (deviations.ts); its only state is which requests it has refused for once.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { getRawBody } from 'raw-body';
import { escapeLineEnds } from '../../platform/json-text/escape-line-ends.ts';
import { log } from '../../platform/observability/log.ts';
import { http } from '../node-http.ts';
import { type Answer, answerChat } from './answer.ts';
import { type ChatRequest, DemoModelError } from './chat-request.ts';
import type { Completion, Deviation } from './deviations.ts';
import { MODELS, parseChatRequest } from './models.ts';

const LOOPBACK = '127.0.0.1';
const BODY_MAX_BYTES = 64 * 1024 * 1024;
/** Requests of which the server remembers that it has refused them for once. */
const REFUSED_MAX = 10_000;

/** Starts the server on loopback and `port` (any free one); `url` is the base URL for an OpenAI client, which lists the models. */
export async function startDemoModelServer({ port = 0 } = {}): Promise<{
  url: string;
  close(): Promise<void>;
}> {
  const refused = new Set<string>();
  const server = http.createServer((request, response) => {
    handle(request, response, refused).catch((error: unknown) => sendError(response, error));
  });
  server.listen(port, LOOPBACK);
  await once(server, 'listening');
  server.on('error', (error) => log.error({ err: error }, 'The demo model server failed.'));
  return {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}/v1`,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  refused: Set<string>,
): Promise<void> {
  const route = `${request.method} ${request.url?.split('?')[0]}`;
  if (route !== 'POST /v1/chat/completions' && route !== 'GET /v1/models') {
    throw new DemoModelError(404, `Unknown request URL: ${route}`, null, 'unknown_url');
  }
  if (route === 'GET /v1/models') {
    const data = Object.entries(MODELS).map(([id, description]) => ({
      ...{ id, object: 'model', created: 0, owned_by: 'demo' },
      description,
    }));
    return sendJson(response, 200, { object: 'list', data });
  }

  const body = await readJsonBody(request);
  const { request: chat, directive, deviation } = parseChatRequest(body.json);
  if (directive.delayMs > 0) {
    const left = new AbortController();
    response.once('close', () => left.abort());
    await delay(directive.delayMs, undefined, { signal: left.signal });
  }
  if (directive.status) throw new DemoModelError(directive.status, `Asked to fail with ${directive.status}`);
  const seed = createHash('sha256').update(body.text).digest('hex').slice(0, 24);
  const refusal = deviation.refuse?.(chat);
  if (refusal && !(deviation.once && isRefusedBefore(refused, seed)))
    return sendJson(response, refusal.status, refusal.body);
  const answer = answerChat(deviation.prepare?.(chat) ?? chat, seed);
  const id = `chatcmpl-${seed}`;
  if (chat.stream || deviation.sent === 'as stream') sendStream(response, chat, answer, id);
  else sendCompletion(response, deviation, chat, completionOf(chat, answer, id));
}

/** Whether this request was refused the last time; takes note of that it is now, where it was not. */
function isRefusedBefore(refused: Set<string>, request: string): boolean {
  if (refused.delete(request)) return true;
  if (refused.size >= REFUSED_MAX) refused.clear();
  refused.add(request);
  return false;
}

async function readJsonBody(request: IncomingMessage): Promise<{ text: string; json: unknown }> {
  const length = request.headers['content-length'] ?? null;
  const text = await getRawBody(request, { length, limit: BODY_MAX_BYTES, encoding: 'utf-8' });
  try {
    return { text, json: JSON.parse(text) };
  } catch {
    throw new DemoModelError(400, 'The body of your request is not valid JSON');
  }
}

function completionOf({ model }: ChatRequest, answer: Answer, id: string): Completion {
  const { content, toolCalls, finishReason, usage } = answer;
  const message = {
    role: 'assistant',
    content,
    refusal: null,
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReason } as const;
  return { id, object: 'chat.completion', created: 0, model, choices: [choice], usage };
}

function sendCompletion(
  response: ServerResponse,
  { change, sent }: Deviation,
  request: ChatRequest,
  completion: Completion,
): void {
  change?.(completion, request);
  const text = JSON.stringify(completion);
  response.writeHead(200, { 'content-type': 'application/json' });
  if (sent === 'in half') response.write(text.slice(0, text.length / 2), () => response.destroy());
  else response.end(sent === 'with done line' ? `${text}\n\ndata: [DONE]\n` : text);
}

function sendStream(response: ServerResponse, chat: ChatRequest, answer: Answer, id: string): void {
  const chunk = (rest: object) =>
    response.write(
      `data: ${escapeLineEnds(JSON.stringify({ id, object: 'chat.completion.chunk', created: 0, model: chat.model, ...rest }))}\n\n`,
    );
  const choice = (delta: object, finishReason: string | null = null) =>
    chunk({ choices: [{ index: 0, delta, finish_reason: finishReason }] });

  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  choice({ role: 'assistant', content: answer.content === null ? null : '' });
  for (const content of answer.content?.match(/\s*\S+\s*/g) ?? []) choice({ content });
  for (const [index, call] of answer.toolCalls.entries()) choice({ tool_calls: [{ index, ...call }] });
  choice({}, answer.finishReason);
  if (chat.stream_options?.include_usage) chunk({ choices: [], usage: answer.usage });
  response.end('data: [DONE]\n\n');
}

function sendError(response: ServerResponse, error: unknown): void {
  if (response.destroyed || response.headersSent) return void response.destroy();
  const known = error instanceof DemoModelError ? error : bodyError(error);
  const { status, message, param, code } = known ?? new DemoModelError(500, 'The demo model failed');
  // The rest of a refused body must not be read as the next request.
  if (!response.req.complete) response.setHeader('connection', 'close');
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  sendJson(response, status, { error: { message, type, param, code } });
}

/** Recognizes the client's mistakes (body too large, cut off) by the status that raw-body gives them. */
function bodyError(error: unknown): DemoModelError | undefined {
  const isBodyError = error instanceof Error && 'status' in error && typeof error.status === 'number';
  return isBodyError ? new DemoModelError(error.status as number, error.message) : undefined;
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
