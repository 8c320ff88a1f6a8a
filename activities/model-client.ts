// The `openai` client of one provider: no retries of its own, bounded time and size.
import { OpenAI } from 'openai';
import type { Provider } from '../config.ts';
import { ServiceError } from '../flow/errors.ts';
import { awaitAnswer } from './bytes-in-hand.ts';
import { isDeeper } from './model-output.ts';

/** One HTTP call, its body included. A block with an outputSchema makes at most two. */
export const MODEL_CALL_TIMEOUT_MS = 120_000;
export const MODEL_ANSWER_MAX_BYTES = 16 * 1024 * 1024;

/** What is over this is read in turns. */
const LARGE_ANSWER_BYTES = 1024 * 1024;

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
      timeout: MODEL_CALL_TIMEOUT_MS,
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
 * Reads the body before it answers, so that the SDK's timeout, which ends with the headers, covers it too. Redirects are
 * not followed: the key is for the configured address.
 */
async function fetchWhole(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  const { status, headers, ok } = response;
  const body = await readBody(response, init?.signal ?? undefined).catch((error: unknown) => {
    if (error instanceof ServiceError || init?.signal?.aborted || !ok) throw error;
    throw new AnswerCutOff('The answer was cut off.', { cause: error });
  });
  const content = ok ? body : errorObject(body.toString());
  return new Response(WITHOUT_BODY.has(status) ? null : content, { status, headers });
}

async function readBody(response: Response, signal: AbortSignal | undefined): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MODEL_ANSWER_MAX_BYTES)
      throw new ServiceError('OUTPUT_TOO_LARGE', 'The model answered with more than 16 MiB.');
    chunks.push(chunk);
    if (bytes > LARGE_ANSWER_BYTES) await awaitAnswer(MODEL_ANSWER_MAX_BYTES, signal);
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
