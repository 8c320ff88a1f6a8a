// OAuth protected resource metadata (RFC 9728): where clients of the MCP endpoint sign in, and with which scopes.
import type { Middleware } from 'koa';
import { MCP_SCOPES } from '../auth/scopes.ts';
import type { ApiDeps } from '../deps.ts';

/**
 * Makes the URL of the metadata of the endpoint, for the form of its path (with or without the slash) (RFC 9728, 3.1).
 */
export function resourceMetadataUrl(mcpUrl: string, path: string): string {
  return new URL(metadataPaths(mcpUrl)[path.endsWith('/') ? 0 : 1], mcpUrl).href;
}

/** Answers the paths of the metadata for the URL with its slash, and without. */
export function metadataPaths(mcpUrl: string): [string, string] {
  const path = `/.well-known/oauth-protected-resource${new URL(mcpUrl).pathname}`;
  return [path, path.replace(/\/$/, '')];
}

/** Serves the metadata for the form of the URL in the request: a client compares it with the URL it was given. */
export function serveResourceMetadata({ config }: ApiDeps): Middleware {
  return function serveResourceMetadata(ctx) {
    const { url } = config.mcp;
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.body = {
      resource: ctx.path.endsWith('/') ? url : url.replace(/\/$/, ''),
      ...(config.oidc && { authorization_servers: [config.oidc.issuer] }),
      scopes_supported: MCP_SCOPES,
      bearer_methods_supported: ['header'],
      resource_name: 'Weir',
      resource_documentation: new URL('/reference', url).href,
    };
  };
}
