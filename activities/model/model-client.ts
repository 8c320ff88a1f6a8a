// The `openai` client of one provider, without retries of its own and with bounds on time and size.
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { OpenAI } from 'openai';
import type { Agent as UndiciAgent } from 'undici';
import { ServiceError } from '../../flow/errors.ts';
import { JSON_DEPTH_MAX } from '../../flow/limits.ts';
import type { Provider } from '../../platform/config/config.ts';
import { readAnswerStart } from '../../platform/net/read-answer-start.ts';
import { traceHeaders } from '../../platform/observability/tracing.ts';
import { isDeeper } from './read-answer.ts';

/** Waits until an activity may hold an answer of so many bytes. */
export type ReserveAnswer = (bytes: number, signal: AbortSignal) => Promise<void>;

export const MODEL_ANSWER_MAX_BYTES = 8 * 1024 * 1024;
export const ERROR_BODY_MAX_BYTES = 64 * 1024;

/** A larger answer waits for a permit before the rest of it is read. */
const LARGE_ANSWER_BYTES = 1024 * 1024;

/** This file alone: the whole package, which has a `fetch` of its own, would take 5 MB more. */
const Agent: typeof UndiciAgent = createRequire(import.meta.url)('undici/lib/dispatcher/agent.js');

/** Practically none: the SDK's own timeout would also count the wait for memory. */
const SDK_TIMEOUT_MS = 24 * 60 * 60 * 1_000;

/** Waits for head and body of an answer as long as their request may take; without it, `fetch` gives up after 5 minutes. */
const PATIENT = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** A response whose body was read: passing it through a stream once more would copy it. */
class WholeResponse extends Response {
  readonly whole: Buffer;
  constructor(whole: Buffer, init: ResponseInit) {
    super(null, init);
    this.whole = whole;
  }
}

/** Returns the JSON text that an answer consists of; undefined when it has no body, or another one. */
export function bodyOf(response: Response): Buffer | undefined {
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
  const isJson = type.includes('application/json') || type.trim().endsWith('+json');
  return response instanceof WholeResponse && isJson && response.status !== 204 ? response.whole : undefined;
}

/**
 * Creates the client of `provider`. One HTTP call, its body included, may take `timeoutMs`; after a wait for memory the time
 * starts again. Creating one takes some 15 µs, so none is kept.
 */
export function createModelClient(
  { baseUrl, apiKey }: Provider,
  timeoutMs: number,
  reserveAnswer: ReserveAnswer,
): OpenAI {
  return new OpenAI({
    baseURL: baseUrl,
    apiKey,
    // Otherwise read from OPENAI_… variables and sent to every provider.
    organization: null,
    project: null,
    adminAPIKey: null,
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    defaultHeaders: { 'X-Stainless-Timeout': String(Math.ceil(timeoutMs / 1_000)), ...traceHeaders() },
    logLevel: 'off',
    fetch: (url, init) => fetchWhole(url, init, timeoutMs, reserveAnswer),
  });
}

/** The time of a call has passed. The provider may bill it all the same, so it is not repeated. */
export class AnswerLate extends Error {
  readonly timeoutMs: number;
  constructor(timeoutMs: number) {
    super('The answer is late.');
    this.timeoutMs = timeoutMs;
  }
}

/** The connection was lost after an answer had begun. */
export class AnswerCutOff extends Error {}

/**
 * Fetches a response and reads its body, that of an error only in part, so that the time limit covers the body too. Redirects are
 * not followed: the key is meant for the configured address only.
 */
async function fetchWhole(
  url: string | URL | Request,
  init: RequestInit | undefined,
  timeoutMs: number,
  reserveAnswer: ReserveAnswer,
): Promise<Response> {
  const late = new AbortController();
  const startTimer = () => setTimeout(() => late.abort(new AnswerLate(timeoutMs)), timeoutMs);
  let timer = startTimer();
  const signal = init?.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
  /** Waits for memory outside the timeout: a shortage of memory must not cause a second, billed request. */
  async function awaitMemory(): Promise<void> {
    clearTimeout(timer);
    await reserveAnswer(MODEL_ANSWER_MAX_BYTES, signal);
    timer = startTimer();
  }
  try {
    const response = await fetch(url, {
      ...init,
      dispatcher: PATIENT,
      redirect: 'manual',
      signal,
    } as RequestInit);
    const { status, headers, ok } = response;
    if (!ok) return new Response(await readErrorBody(response), { status, headers });
    const body = await readBody(response, awaitMemory).catch((error: unknown) => {
      if (error instanceof ServiceError || signal.aborted) throw error;
      throw new AnswerCutOff('The answer was cut off.', { cause: error });
    });
    return new WholeResponse(body, { status, headers });
  } finally {
    clearTimeout(timer);
  }
}

async function readBody(response: Response, awaitMemory: () => Promise<void>): Promise<Buffer> {
  const tooLarge = () => new ServiceError('OUTPUT_TOO_LARGE', 'The model answered with more than 8 MiB.');
  if (Number(response.headers.get('content-length')) > MODEL_ANSWER_MAX_BYTES) {
    await response.body?.cancel();
    throw tooLarge();
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  let hasPermit = false;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MODEL_ANSWER_MAX_BYTES) throw tooLarge();
    chunks.push(chunk);
    if (hasPermit || length <= LARGE_ANSWER_BYTES) continue;
    await awaitMemory();
    hasPermit = true;
  }
  return Buffer.concat(chunks, length);
}

/** Reads the start of an error's body, as far as it comes; null when there is none. */
async function readErrorBody({ body }: Response): Promise<string | null> {
  if (!body) return null;
  const start = await readAnswerStart(Readable.fromWeb(body), ERROR_BODY_MAX_BYTES);
  return toErrorObject(start.toString());
}

/**
 * Rewrites an error body so that the SDK understands it. Google puts its error object into an array, which the SDK would
 * drop, and vLLM and Mistral send theirs bare; a body nested too deeply to be serialized again becomes the text of an error
 * message.
 */
function toErrorObject(body: string): string {
  const text = body.trim();
  const object = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  const json = parseJson(object);
  if (isDeeper(json, JSON_DEPTH_MAX)) return JSON.stringify({ error: { message: object } });
  const isBare = typeof json === 'object' && json !== null && !('error' in json);
  return isBare ? `{"error":${object}}` : object;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
