// The `openai` client of one provider: no retries of its own, bounded time and size.
import { OpenAI } from 'openai';
import type { Provider } from '../config.ts';
import { ServiceError } from '../flow/errors.ts';
import { isDeeper } from './read-model-json.ts';
import { reserveAnswerMemory } from './reserve-memory.ts';

/**
 * One HTTP call, its body included; what comes after a wait for memory has as long again. A block with an outputSchema
 * makes at most two.
 */
export const MODEL_CALL_TIMEOUT_MS = 120_000;
export const MODEL_ANSWER_MAX_BYTES = 16 * 1024 * 1024;

/** What is over this is read in turns. */
const LARGE_ANSWER_BYTES = 1024 * 1024;

/** The SDK's own timeout would count that wait. */
const SDK_TIMEOUT_MS = 24 * 60 * 60 * 1_000;

const ERROR_DEPTH_MAX = 64;

/** Statuses that a Response is not made with a body for. */
const WITHOUT_BODY = new Set([204, 205, 304]);

const clients = new WeakMap<Provider, OpenAI>();

/** The client of `provider`, made once per provider object. */
export function modelClient(provider: Provider): OpenAI {
  let client = clients.get(provider);
  if (!client) {
    client = new OpenAI({
      baseURL: provider.baseUrl,
      apiKey: provider.apiKey,
      // Otherwise read from OPENAI_… variables and sent to every provider.
      organization: null,
      project: null,
      adminAPIKey: null,
      maxRetries: 0,
      timeout: SDK_TIMEOUT_MS,
      defaultHeaders: { 'X-Stainless-Timeout': String(MODEL_CALL_TIMEOUT_MS / 1_000) },
      logLevel: 'off',
      fetch: fetchWhole,
    });
    clients.set(provider, client);
  }
  return client;
}

/** The connection was lost after an answer had begun. */
export class AnswerCutOff extends Error {}

/**
 * Reads the body before it answers, so that the timeout covers it too. Redirects are not followed: the key is for the
 * configured address.
 */
async function fetchWhole(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const late = new AbortController();
  const startTimer = () => setTimeout(() => late.abort(), MODEL_CALL_TIMEOUT_MS);
  let timer = startTimer();
  const signal = init?.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
  /** That others hold the memory is not the provider's fault, nor a reason to ask, and pay, again. */
  async function awaitMemory(): Promise<void> {
    clearTimeout(timer);
    await reserveAnswerMemory(MODEL_ANSWER_MAX_BYTES, signal);
    timer = startTimer();
  }
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    const { status, headers, ok } = response;
    const body = await readBody(response, awaitMemory).catch((error: unknown) => {
      if (error instanceof ServiceError || signal.aborted || !ok) throw error;
      throw new AnswerCutOff('The answer was cut off.', { cause: error });
    });
    const content = ok ? body : errorObject(body.toString());
    return new Response(WITHOUT_BODY.has(status) ? null : content, { status, headers });
  } finally {
    clearTimeout(timer);
  }
}

async function readBody(response: Response, awaitMemory: () => Promise<void>): Promise<Buffer> {
  const tooLarge = () => new ServiceError('OUTPUT_TOO_LARGE', 'The model answered with more than 16 MiB.');
  if (Number(response.headers.get('content-length')) > MODEL_ANSWER_MAX_BYTES) {
    await response.body?.cancel();
    throw tooLarge();
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let isLarge = false;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MODEL_ANSWER_MAX_BYTES) throw tooLarge();
    chunks.push(chunk);
    if (isLarge || bytes <= LARGE_ANSWER_BYTES) continue;
    isLarge = true;
    await awaitMemory();
  }
  return Buffer.concat(chunks);
}

/**
 * What the SDK gets of an error. Google puts its error object into an array, which would be dropped; what is nested so
 * deep that it can't be made into JSON again is a text.
 */
function errorObject(body: string): string {
  const text = body.trim();
  const object = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  const isText = isDeeper(safeJson(object), ERROR_DEPTH_MAX);
  return isText ? JSON.stringify({ error: { message: object } }) : object;
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
