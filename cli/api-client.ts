// Requests to the HTTP API of the service, with errors as sentences.
import { ERROR_CODES, ServiceError } from '../flow/errors.ts';
import type { BlockState, BlockUnderWay } from './block-table.ts';
import { apiAccess } from './environment.ts';

const TIMEOUT_MS = 30_000;

/** The fields of GET …/jobs/{executionId} that are used here. */
export type JobState = {
  status: 'started' | 'completed' | 'failed';
  result?: unknown;
  errorMessage?: string;
  durationMs: number | null;
  cost: number;
  blocks: BlockState[];
  blocksUnderWay?: BlockUnderWay[];
};

/** The service did not answer, or cannot at the moment. */
export class Unreachable extends Error {}

/** Sends a request. Throws Unreachable, or a ServiceError with the code and message of the API's answer. */
export async function callApi<T>(
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  headers: { [name: string]: string } = {},
): Promise<T> {
  const { url, key } = apiAccess();
  const { status, text } = await exchange(url + path, {
    method,
    headers: {
      ...headers,
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(unreachable(url));
  const answer = parse(text);
  if (status < 300 && answer) return answer as T;
  throw toError(url, status, answer);
}

/** Opens a stream of Server-Sent Events; throws as `callApi` does. */
export async function openStream(path: string): Promise<NonNullable<Response['body']>> {
  const { url, key } = apiAccess();
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } }).catch(
    unreachable(url),
  );
  if (response.ok && response.body) return response.body;
  throw toError(url, response.status, parse(await response.text().catch(unreachable(url))));
}

function unreachable(url: string) {
  return (error: Error): never => {
    const cause = error.cause instanceof Error ? error.cause.message || error.message : error.message;
    throw new Unreachable(`Weir cannot be reached at ${url}: ${cause}. Start it, or correct WEIR_URL.`);
  };
}

function toError(url: string, status: number, answer: object | undefined): Error {
  const { detail } = (answer ?? {}) as { detail?: { code: string; message: string } };
  if (status >= 500 || status === 429 || !detail)
    return new Unreachable(
      `${url} answered ${status}${detail ? `: ${detail.message}` : '. Is WEIR_URL the address of a Weir service?'}`,
    );
  const code = ERROR_CODES.find((known) => known === detail.code) ?? 'INTERNAL_ERROR';
  return new ServiceError(code, `${detail.message} (${detail.code})`);
}

async function exchange(url: string, request: RequestInit): Promise<{ status: number; text: string }> {
  const response = await fetch(url, request);
  return { status: response.status, text: await response.text() };
}

/** Parses the JSON object of a body; undefined for anything else. */
function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
