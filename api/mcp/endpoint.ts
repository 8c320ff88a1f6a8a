// The MCP endpoint: POST /api/v1/mcp/ and /api/v1/mcp serve MCP over stateless Streamable HTTP (docs/mcp.md).
// Assistants manage flows by tools, which call the same functions as the HTTP API and the `weir` command.

import { z } from 'zod';
import { type ErrorCode, ServiceError } from '../../flow/errors.ts';
import { limitRate } from '../auth/limit-rate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { answerRefusal, STATUS } from '../http/errors.ts';
import { readBody } from '../http/json-body.ts';
import type { BodyDeps } from '../http/receive-body.ts';
import { authenticateMcp, requireAllowedOrigin } from './authenticate-mcp.ts';
import { mcpOperation } from './operation.ts';

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

export const MCP_PATHS = ['/api/v1/mcp/', '/api/v1/mcp'];

/** Serves both forms of the path, and clients of current and earlier protocol revisions. */
export function mcpRoutes(deps: ApiDeps): Route[] {
  const handlers = [
    requireAllowedOrigin(deps),
    authenticateMcp(deps),
    limitRate(deps),
    readMessage(deps),
    serveMcp(deps),
  ];
  return MCP_PATHS.map((path) => ({ method: 'post', path, operation: mcpOperation(), handlers }));
}

/** The MCP SDK and the schemas of all tools take some 10 MB. They are loaded on the first request. */
function serveMcp(deps: ApiDeps): ApiMiddleware {
  let loaded: Promise<ApiMiddleware> | undefined;
  return async function serveMcp(ctx, next) {
    loaded ??= import('./mcp-server.ts').then(({ callTools }) => callTools(deps));
    return (await loaded)(ctx, next);
  };
}

/**
 * Reads the JSON-RPC message into `ctx.state.body`, with the limits of other bodies. It stays in memory until the
 * response has ended, because the SDK keeps the message while a tool runs. Rejects batches, which MCP no longer has:
 * one message counts as one request.
 */
function readMessage(deps: BodyDeps): ApiMiddleware {
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
