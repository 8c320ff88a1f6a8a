// http/ is shared by all endpoints: bodies, queries, responses and errors. This file is the only place that turns an
// error into a status and {detail: {code, message, …}}.

import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Context, Middleware } from 'koa';
import { ConnectionFailed, logOutage } from '../../db/connection/database-errors.ts';
import { type ErrorCode, ServiceError } from '../../flow/errors.ts';
import { ThreadStarved } from '../../platform/json-schema/thread-pool.ts';
import { ObjectStoreUnavailable } from '../../platform/object-store/object-store.ts';
import { log } from '../../platform/observability/log.ts';
import { creditsRefused } from '../../platform/observability/metrics/run-metrics.ts';
import type { ApiContext, ApiState } from './context.ts';
import { routeOf } from './observe-requests.ts';
import { RETRY_AFTER_SECONDS, RetryLater } from './request-errors.ts';

/** Bytes of a refused body that are read on and discarded; it has the time of a request to arrive. */
export const DISCARD_MAX_BYTES = 64 * 1024 * 1024;

/**
 * The failed request: `fields` identify it in the log; `mayBeStored`: an earlier statement may have stored its run.
 */
type FailedRequest = { requestId: string; fields: object; mayWrite: boolean; mayBeStored?: boolean };

export const INTERNAL_ERROR = 'Something failed inside the service. Nothing is wrong with the request.';

const TOOK_TOO_LONG =
  'A question to the database took over 20 s, and was given up: ask for less, or try again later.';

export const DATABASE_UNAVAILABLE = 'The database does not answer: try again later.';
const TAKES_NO_CHANGES = 'The database takes no changes at the moment: try again later.';

const TOO_BUSY = 'The service is too busy to check a JSON Schema: send the request again.';

export const OBJECT_STORE_UNAVAILABLE =
  'The store of large requests and outputs does not answer: try again later. Accepted runs continue.';

const MAY_BE_MADE =
  'The change may have been made: check before you try again. If the error has an executionId, get that run, or repeat the request with the same Idempotency-Key. Without a key, a repeated request may start another run.';

export const CHANGES_UNKNOWN = `The database does not answer. ${MAY_BE_MADE}`;

/**
 * The status of each error code. A failed block is part of a run's answer and sends no status, but requests can fail
 * with some of the same codes, such as MODEL_TOOLS_UNSUPPORTED, which is a 500 by the contract.
 */
export const STATUS = {
  BAD_REQUEST: 400,
  PARAMETER_NAME_RESERVED: 400,
  ATTACHMENT_LIMIT_EXCEEDED: 400,
  ATTACHMENT_INVALID_SCHEME: 400,
  ATTACHMENT_BLOCKED_HOST: 400,
  ATTACHMENT_URL_TOO_LONG: 400,
  ATTACHMENT_UNSUPPORTED_MIME: 400,
  ATTACHMENT_INVALID_FILENAME: 400,
  ATTACHMENT_UNSUPPORTED_KIND: 400,
  MODEL_MIME_INCOMPATIBLE: 400,
  CAPABILITY_REGISTRY_UNAVAILABLE: 503,
  TOOLS_INVALID: 400,
  TOOL_NAME_INVALID: 400,
  PAUSED_STEP_INVALID: 400,
  EXECUTION_ID_INVALID: 400,
  TOOL_RESULTS_MISMATCH: 400,
  INVALID_RESUME: 400,
  TOOLS_REQUIRE_SYNC_EXECUTE: 405,
  TOOL_ITERATION_LIMIT: 409,
  MESSAGES_TOO_LARGE: 413,
  TOOLS_NOT_ENABLED: 422,
  TOOLS_IN_NON_SEQUENTIAL_STEP: 422,
  MISSING_MESSAGE: 400,
  INVALID_STEP_INDEX: 400,
  NO_STEPS: 400,
  STALE_TREE: 400,
  INVALID_TREE: 400,
  INVALID_VERSION: 400,
  INSUFFICIENT_CREDITS: 402,
  FLOW_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  VALIDATION_ERROR: 422,
  MALFORMED_JSON: 422,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  PRECONDITION_REQUIRED: 428,
  IDEMPOTENCY_KEY_REUSED: 409,
  BODY_TOO_LARGE: 413,
  REQUEST_TIMEOUT: 408,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  ENGINE_UNAVAILABLE: 503,
  SERVICE_STOPPING: 503,
  SERVICE_BUSY: 503,
  DATABASE_UNAVAILABLE: 503,
  OBJECT_STORE_UNAVAILABLE: 503,
  DNS_UNAVAILABLE: 503,
  MAX_CREDITS_REACHED: 402,
  IDENTITY_PROVIDER_UNAVAILABLE: 503,
  INPUT_SCHEMA_MISMATCH: 500,
  OUTPUT_SCHEMA_MISMATCH: 500,
  SCHEMA_INVALID: 422,
  CODE_ERROR: 500,
  CODE_TIMEOUT: 500,
  CODE_LIMIT_EXCEEDED: 500,
  PROMPT_TOO_LARGE: 500,
  MODEL_NOT_CONFIGURED: 500,
  MODEL_UNAVAILABLE: 500,
  MODEL_REFUSED: 500,
  MODEL_NOT_FOUND: 500,
  MODEL_SCHEMA_REFUSED: 500,
  MODEL_QUOTA_EXCEEDED: 500,
  MODEL_REQUEST_INVALID: 500,
  MODEL_KEY_REJECTED: 500,
  MODEL_TOOLS_UNSUPPORTED: 500,
  BYOK_REJECTED: 500,
  MODEL_OUTPUT_INVALID: 500,
  MODEL_OUTPUT_INCOMPLETE: 500,
  LOOP_INPUT_NOT_ARRAY: 500,
  LOOP_LIMIT_EXCEEDED: 500,
  OUTPUT_TOO_LARGE: 413,
  CANCELLED: 500,
} satisfies Record<ErrorCode, number>;

export function errorBody(code: ErrorCode, message: string, extra: Record<string, unknown> = {}) {
  return { detail: { code, message, ...extra } };
}

/** For the caller of an accepted run whose response failed. */
const MAY_BE_STORED =
  'The run may be stored: get …/jobs/{executionId} first. Without an Idempotency-Key, a repeated request starts another run.';

/**
 * Answers every error of the later middleware, with the executionId once a run may be stored. Logs unknown errors and
 * answers them with the request id alone. Reports each 429 to `countRateLimited`.
 */
export function handleErrors(
  countRateLimited?: (state: ApiState) => void,
  pace?: (ctx: ApiContext) => Promise<void>,
): Middleware {
  return async function handleErrors(ctx, next) {
    try {
      await next();
    } catch (error) {
      answerError(ctx, error, countRateLimited);
    }
    await pace?.(ctx as ApiContext);
  };
}

function answerError(
  ctx: Context,
  error: unknown,
  countRateLimited: ((state: ApiState) => void) | undefined,
): void {
  const { answer, body } = toErrorBody(ctx, error);
  if (answer.code === 'RATE_LIMITED') countRateLimited?.(ctx.state as ApiState);
  ctx.status = STATUS[answer.code];
  if (ctx.status === 401 && !ctx.response.get('WWW-Authenticate')) ctx.set('WWW-Authenticate', 'Bearer');
  // RFC 9110 requires it in every 405, also for a problem of the body.
  if (ctx.status === 405 && !ctx.response.get('Allow')) ctx.set('Allow', ctx.method);
  if (answer instanceof RetryLater) ctx.set('Retry-After', String(answer.retryAfterSeconds));
  else if (ctx.status === 503) ctx.set('Retry-After', String(RETRY_AFTER_SECONDS));
  answerRefusal(ctx, body);
}

/** Converts any error of a request as `toServiceError` does, and makes its body. The log of the request gets its code. */
export function toErrorBody(ctx: Context, error: unknown): { answer: ServiceError; body: object } {
  const answer = toServiceError(error, {
    requestId: ctx.state.requestId,
    fields: { method: ctx.method, route: routeOf(ctx) },
    mayWrite: ctx.method !== 'GET',
    mayBeStored: ctx.state.accepted !== undefined,
  });
  ctx.state.errorCode = answer.code;
  if (answer.code === 'INSUFFICIENT_CREDITS') creditsRefused.add(1, { reason: 'balance' });
  const message =
    ctx.state.accepted && answer.code === 'RATE_LIMITED'
      ? `${answer.message} ${MAY_BE_STORED}`
      : answer.message;
  return { answer, body: errorBody(answer.code, message, { ...ctx.state.accepted, ...answer.extra }) };
}

/**
 * Converts any error into a ServiceError for the caller. A ServiceError is returned unchanged. Logs the cause of every
 * other error with the request id.
 */
export function toServiceError(
  error: unknown,
  { requestId, fields, mayWrite, mayBeStored = false }: FailedRequest,
): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof ConnectionFailed && logOutage(error)) {
    const mayBeMade = mayWrite && (mayBeStored || error.mayBeCarriedOut);
    const [known, unknown] = sentencesOf(error);
    return new ServiceError('DATABASE_UNAVAILABLE', mayBeMade ? unknown : known);
  }
  if (error instanceof ThreadStarved) {
    log.warn({ ...fields, reason: error.message }, 'A request was refused, because the machine is too busy.');
    return new ServiceError('SERVICE_BUSY', TOO_BUSY);
  }
  if (error instanceof ObjectStoreUnavailable) {
    log.warn({ ...fields, reason: error.message }, 'A request could not read from the object store.');
    return new ServiceError('OBJECT_STORE_UNAVAILABLE', OBJECT_STORE_UNAVAILABLE);
  }
  log.error({ ...fields, err: error }, 'A request failed.');
  return new ServiceError('INTERNAL_ERROR', INTERNAL_ERROR, { request_id: requestId });
}

/** Returns two messages for callers: for a change that was not made, and for a change with an unknown outcome. */
function sentencesOf({ refusesWrites, failure }: ConnectionFailed): [known: string, unknown: string] {
  if (refusesWrites) return [TAKES_NO_CHANGES, `${TAKES_NO_CHANGES} ${MAY_BE_MADE}`];
  if (failure === 'slow') return [TOOK_TOO_LONG, `${TOOK_TOO_LONG} ${MAY_BE_MADE}`];
  return [DATABASE_UNAVAILABLE, CHANGES_UNKNOWN];
}

/**
 * Answers with an error as JSON. When the request body is still arriving, answers at once and discards the rest
 * before closing: a client that sends everything before it reads would otherwise lose the response.
 */
export function answerRefusal(ctx: Context, body: object): void {
  if (!isArriving(ctx.req)) {
    ctx.body = body;
    return;
  }
  const text = JSON.stringify(body);
  ctx.set('Connection', 'close');
  ctx.body = Readable.from(sendThenDiscard(ctx.req, text));
  ctx.type = 'json';
  ctx.length = Buffer.byteLength(text);
}

function isArriving({ complete, destroyed, headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return hasBody && !complete && !destroyed;
}

async function* sendThenDiscard(request: IncomingMessage, text: string): AsyncGenerator<string> {
  yield text;
  if (request.complete || request.destroyed) return;
  await new Promise<void>((resolve) => {
    let left = DISCARD_MAX_BYTES;
    for (const event of ['end', 'close', 'error']) request.once(event, () => resolve());
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) resolve();
    });
    request.resume();
  });
}
