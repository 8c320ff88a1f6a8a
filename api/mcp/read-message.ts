import { z } from 'zod';
import { type ErrorCode, ServiceError } from '../../flow/errors.ts';
import type { ApiDeps } from '../deps.ts';
import { answerRefusal } from '../http/answer-refusal.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { STATUS } from '../http/errors.ts';
import { readBody } from '../http/json-body.ts';

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/**
 * Reads the JSON-RPC message into `ctx.state.body`, with the limits of other bodies. It stays in memory until the
 * response has ended, because the SDK keeps the message while a tool runs. Rejects batches, which MCP no longer has:
 * one message counts as one request.
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
        await next();
      });
    } catch (error) {
      if (isRead || !(error instanceof ServiceError) || error.code === 'RATE_LIMITED') throw error;
      ctx.status = statusOf(error.code);
      const code = error.code === 'MALFORMED_JSON' ? PARSE_ERROR : INVALID_REQUEST;
      answerRefusal(ctx, refusal(code, error.message));
    }
  };
}

function refusal(code: number, message: string) {
  return { jsonrpc: '2.0', error: { code, message }, id: null };
}

/** Returns the HTTP status of an error. JSON-RPC over HTTP has no 422. */
function statusOf(code: ErrorCode): number {
  return STATUS[code] === 422 ? 400 : STATUS[code];
}
