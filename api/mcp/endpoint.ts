// The MCP endpoint: POST /api/v1/mcp/ and /api/v1/mcp serve MCP over stateless Streamable HTTP (docs/mcp.md).
// Assistants manage flows by tools, which call the same functions as the HTTP API and the `weir` command.
import { limitRate } from '../auth/limit-rate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { authenticateMcp } from './authenticate-mcp.ts';
import { mcpOperation } from './operation.ts';
import { readMessage } from './read-message.ts';
import { requireAllowedOrigin } from './require-allowed-origin.ts';

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
    loaded ??= import('./call-tools.ts').then(({ callTools }) => callTools(deps));
    return (await loaded)(ctx, next);
  };
}
