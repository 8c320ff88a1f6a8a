// Reads the JSON-RPC message of a request, with the same bounds as other bodies, and refuses it with a JSON-RPC error.
import { z } from 'zod';
import { type ErrorCode, ServiceError } from '../../flow/errors.ts';
import type { ApiDeps } from '../deps.ts';
import { answerRefusal } from '../http/answer-refusal.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { STATUS } from '../http/errors.ts';
import { PARSE_OPTIONS, readBody, validationError } from '../http/json-body.ts';

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;

/** The request that opens a session in earlier revisions. One with `_meta` may be of the current revision, which has none. */
const initialize = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]),
  method: z.literal('initialize'),
  params: z.looseObject({ _meta: z.never().optional() }).default({}),
});
/** The parameters that the SDK requires: it answers others as an internal error, with the problems as JSON. */
const initializeParams = z.object({
  protocolVersion: z.string(),
  capabilities: z.looseObject({}),
  clientInfo: z.looseObject({ name: z.string(), version: z.string() }),
});

/**
 * Sets `ctx.state.body`, which is in hand until the answer has ended: the SDK keeps the message while a tool runs. Refuses
 * batches, which MCP no longer has: a message is one call, and is counted as one.
 */
export function readMessage(deps: Pick<ApiDeps, 'largeValues'>): ApiMiddleware {
  const read = readBody(deps, z.unknown());
  return async function readMessage(ctx, next) {
    let isRead = false;
    try {
      await read(ctx as never, async () => {
        if (Array.isArray(ctx.state.body))
          throw new ServiceError(
            'VALIDATION_ERROR',
            'Send one message per request: batches are not accepted.',
          );
        isRead = true;
        const asked = initialize.safeParse(ctx.state.body).data;
        const wrong = asked && initializeParams.safeParse(asked.params, PARSE_OPTIONS).error;
        if (wrong) ctx.body = refusal(INVALID_PARAMS, validationError(wrong).message, asked.id);
        else await next();
      });
    } catch (error) {
      if (isRead || !(error instanceof ServiceError) || error.code === 'RATE_LIMITED') throw error;
      ctx.status = statusOf(error.code);
      const code = error.code === 'MALFORMED_JSON' ? PARSE_ERROR : INVALID_REQUEST;
      answerRefusal(ctx, refusal(code, error.message));
    }
  };
}

function refusal(code: number, message: string, id: string | number | null = null) {
  return { jsonrpc: '2.0', error: { code, message }, id };
}

/** Answers the HTTP status of an error; JSON-RPC over HTTP has no 422. */
function statusOf(code: ErrorCode): number {
  return STATUS[code] === 422 ? 400 : STATUS[code];
}
