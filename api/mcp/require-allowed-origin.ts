import type { Middleware } from 'koa';
import type { ApiDeps } from '../deps.ts';
import { allowOrigin } from '../http/allow-origin.ts';
import type { ApiMiddleware } from '../http/context.ts';

export const ORIGIN_NOT_ALLOWED =
  'Web pages of this origin may not use MCP: an operator can allow it in WEIR_MCP_ALLOWED_ORIGINS.';
const SENT_HEADERS = 'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name';

/**
 * Rejects web pages of other origins: they could use whatever a browser or its network can reach. Programs do not
 * send the header Origin.
 */
export function requireAllowedOrigin({ config }: ApiDeps): ApiMiddleware {
  return async function requireAllowedOrigin(ctx, next) {
    allow(ctx, config.mcp.allowedOrigins);
    await next();
  };
}

/** Answers the CORS preflight of web pages. */
export function preflight({ config }: ApiDeps): Middleware {
  return function preflight(ctx) {
    allow(ctx, config.mcp.allowedOrigins);
    ctx.set({ 'Access-Control-Allow-Methods': 'POST', 'Access-Control-Allow-Headers': SENT_HEADERS });
    ctx.status = 204;
  };
}

function allow(ctx: Parameters<typeof allowOrigin>[0], allowedOrigins: string[]): void {
  allowOrigin(ctx, allowedOrigins, ORIGIN_NOT_ALLOWED);
  ctx.set('Access-Control-Expose-Headers', 'WWW-Authenticate');
}
