// Fetches a provider's answer with bounds on time and size, for the SDK of each API.
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import type { Agent as UndiciAgent } from 'undici';
import { ServiceError } from '../../flow/errors.ts';
import { readAnswerStart } from '../../platform/net/read-answer-start.ts';

/** Waits until an activity may hold an answer of so many bytes. */
export type ReserveAnswer = (bytes: number, signal: AbortSignal) => Promise<void>;

export const MODEL_ANSWER_MAX_BYTES = 8 * 1024 * 1024;
export const ERROR_BODY_MAX_BYTES = 64 * 1024;

/** A larger answer waits for a permit before the rest of it is read. */
const LARGE_ANSWER_BYTES = 1024 * 1024;

/** This file alone: the whole package, which has a `fetch` of its own, would take 5 MB more. */
const Agent: typeof UndiciAgent = createRequire(import.meta.url)('undici/lib/dispatcher/agent.js');

/** Waits for head and body of an answer as long as their request may take; without it, `fetch` gives up after 5 minutes. */
const WITHOUT_TIMEOUT = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** A response whose body was read: passing it through a stream once more would copy it. */
class WholeResponse extends Response {
  readonly whole: Buffer;
  constructor(whole: Buffer, init: ResponseInit) {
    super(null, init);
    this.whole = whole;
  }
}

/** Returns the body of an answer, whatever its content type says; undefined when it has none. */
export function bodyOf(response: Response): Buffer | undefined {
  return response instanceof WholeResponse && response.status !== 204 ? response.whole : undefined;
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

/** The provider cannot be reached. `reason` is the network's error; as a cause, an SDK would drop both if it was a timeout. */
export class ProviderUnreachable extends Error {
  readonly reason: unknown;
  constructor(reason: unknown) {
    super('The provider cannot be reached.');
    this.reason = reason;
  }
}

/** The provider answered with a status other than 2xx. `body`: the start of its body, in any format. */
export class ProviderRefusal extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  constructor(status: number, headers: Headers, body: string) {
    super('The provider answered with an error.');
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/**
 * Fetches a response and reads its body, that of an error only in part, so that the time limit covers the body too. Redirects are
 * not followed: the key is meant for the configured address only. Rejects with ProviderRefusal, ProviderUnreachable, AnswerCutOff,
 * AnswerLate, OUTPUT_TOO_LARGE, or the signal's reason. An SDK passes these on as the cause of its own error.
 */
export async function fetchWhole(
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
    const sent = fetch(url, {
      ...init,
      dispatcher: WITHOUT_TIMEOUT,
      redirect: 'manual',
      signal,
    } as RequestInit);
    const response = await sent.catch((error: unknown) => {
      throw signal.aborted ? error : new ProviderUnreachable(error);
    });
    const { status, headers, ok } = response;
    if (!ok) throw new ProviderRefusal(status, headers, await readErrorBody(response));
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

/** Reads the start of an error's body, as far as it comes. */
async function readErrorBody({ body }: Response): Promise<string> {
  return body ? (await readAnswerStart(Readable.fromWeb(body), ERROR_BODY_MAX_BYTES)).toString() : '';
}
