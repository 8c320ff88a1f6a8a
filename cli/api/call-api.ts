// Requests to the HTTP API of the service, with errors as sentences. service-url.ts finds the service, credential.ts the
// credential. Nothing in cli/api/ needs the database or the engine.
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../flow/errors.ts';
import { type Credential, getCredential, useSignIn } from './credential.ts';
import { readAnswer } from './read-answer.ts';
import { serviceUrl } from './service-url.ts';
import { AnswerLost, notWeir, toError, Unreachable } from './to-error.ts';

const PAGE_MAX = 200;

type Page<T> = { hasMore: boolean; nextCursor: string | null } & { [name: string]: T[] };

const RECONNECT_MS = 60_000;
const READ_MAX_MS = 30_000;
/** A change may wait 30 s in line, 30 s for the database, and 20 s for the receiver of a test event. */
const CHANGE_MAX_MS = 90_000;
/** The connection was lost after it was made. */
const LOST = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET'];

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
/** Fields that are undefined are not sent. */
export type Query = { [name: string]: string | number | boolean | Date | undefined };
type Options = {
  query?: Query;
  body?: unknown;
  headers?: { [name: string]: string };
  /** For endpoints that take API keys alone. */
  keyOnly?: boolean;
};

/** Sends a request, whose path begins with /api/v1; returns the body of the answer. Throws as `exchange` does. */
export async function callApi<T>(method: Method, path: string, options: Options = {}): Promise<T> {
  return (await exchange<T>(method, path, options)).body;
}

/**
 * Sends a request, to the service that this command calls unless another is `given`; returns the headers and the body of the
 * answer (undefined for a 204). Throws Unreachable, or a Refusal, which has the `detail` of the answer.
 */
export async function exchange<T>(
  method: Method,
  path: string,
  options: Options = {},
  given?: Service,
): Promise<{ headers: Headers; body: T }> {
  const service = given ?? (await getService(options));
  const timeoutMs = method === 'GET' ? READ_MAX_MS : CHANGE_MAX_MS;
  const response = await send(service, method, path, options, AbortSignal.timeout(timeoutMs));
  const text = await readAnswer(response).catch(unreachable(service.url, method));
  const answer = parse(text);
  if (response.status === 204 || (response.ok && answer !== undefined))
    return { headers: response.headers, body: answer as T };
  const error = toError(service, response, answer);
  if (!given && (await mayUseSignIn(service, response, error, options)))
    return exchange(method, path, options);
  throw error;
}

/**
 * Polls until `isOver`. Work outlives restarts of the service: a service that is away is asked again for a minute. Throws as
 * `exchange` does.
 */
export async function poll<T>(path: string, everyMs: number, isOver: (answer: T) => boolean): Promise<T> {
  for (let reachable = Date.now(); ; await sleep(everyMs)) {
    try {
      const answer = await callApi<T>('GET', path);
      reachable = Date.now();
      if (isOver(answer)) return answer;
    } catch (error) {
      if (!(error instanceof Unreachable) || Date.now() - reachable > RECONNECT_MS) throw error;
    }
  }
}

/** Whether the request, which had no effect, can be sent again with the sign-in. */
async function mayUseSignIn(
  { url, credential }: Service,
  { status }: Response,
  error: Error,
  { keyOnly }: Options,
) {
  // The service hides the flows of other projects from a key.
  const isHidden = error instanceof ServiceError && error.code === 'FLOW_NOT_FOUND';
  const isRefused = status === 401 || status === 403 || isHidden;
  return isRefused && !keyOnly && credential.source === 'WEIR_API_KEY' && (await useSignIn(url, status));
}

/** Opens a stream of Server-Sent Events; throws as `exchange` does. */
export async function openStream(
  path: string,
  options: Options = {},
): Promise<NonNullable<Response['body']>> {
  const service = await getService(options);
  const response = await send(service, 'GET', path, options);
  if (response.ok && response.body) return response.body;
  const answer = parse(await readAnswer(response).catch(unreachable(service.url, 'GET')));
  const error = toError(service, response, answer);
  if (await mayUseSignIn(service, response, error, options)) return openStream(path, options);
  throw error;
}

type Service = { url: string; credential: Credential };

async function getService(options: Options): Promise<Service> {
  const url = serviceUrl();
  return { url, credential: await getCredential(url, options) };
}

/** Follows no redirect: the answer of another address is not what was asked for. */
function send(
  { url, credential }: Service,
  method: Method,
  path: string,
  { query = {}, body, headers }: Options,
  signal?: AbortSignal,
): Promise<Response> {
  requireSendable(credential);
  return fetch(url + path + queryText(query), {
    method,
    redirect: 'manual',
    headers: {
      ...headers,
      authorization: `Bearer ${credential.token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch(unreachable(url, method));
}

/** Throws for a credential that no header can carry, before anything repeats it in an error. */
function requireSendable({ token, source }: Credential): void {
  if (/^[\x21-\x7e]+\s*$/.test(token)) return;
  throw new ServiceError(
    'VALIDATION_ERROR',
    `The credential of ${source} is malformed: it must be one line of ASCII characters, without spaces.`,
  );
}

function queryText(query: Query): string {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) fields.set(name, value instanceof Date ? value.toISOString() : String(value));
  return fields.size === 0 ? '' : `?${fields}`;
}

function unreachable(url: string, method: Method) {
  return (error: Error): never => {
    if (error instanceof ServiceError) throw error;
    const cause = error.cause as NodeJS.ErrnoException | undefined;
    const isLate = error.name === 'TimeoutError';
    const why = isLate ? 'no answer in time' : cause?.message || error.message;
    if (method === 'GET' || !(isLate || LOST.includes(cause?.code ?? '')))
      throw new Unreachable(`Weir cannot be reached at ${url}: ${why}. Start it, or correct WEIR_URL.`);
    throw new AnswerLost(
      `No answer came from ${url}: ${why}. The change may have been made: check before you repeat the command.`,
    );
  };
}

/** Parses the JSON of a body; undefined for anything else. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Lists the entries `name` of a list over all its pages, at most `limit` of them. `cursor` is the field of the query that
 * takes the place of the next page.
 */
export async function listAll<T>(
  path: string,
  name: string,
  {
    limit = Number.POSITIVE_INFINITY,
    cursor = 'cursor',
    query = {},
  }: { limit?: number; cursor?: string; query?: Query } = {},
): Promise<T[]> {
  const found: T[] = [];
  for (let next: string | undefined; ; ) {
    const size = Math.min(PAGE_MAX, limit - found.length);
    const page: Page<T> = await callApi('GET', path, { query: { ...query, limit: size, [cursor]: next } });
    if (!Array.isArray(page?.[name])) throw notWeir(serviceUrl());
    found.push(...page[name]);
    if (!page.nextCursor || found.length >= limit) return found;
    next = page.nextCursor;
  }
}
