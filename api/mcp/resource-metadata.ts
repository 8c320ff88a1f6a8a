// OAuth protected resource metadata (RFC 9728): where clients of the MCP endpoint sign in, and with which scopes.
import type { Context, Middleware } from 'koa';
import { MCP_SCOPES } from '../auth/scopes.ts';
import type { ApiDeps } from '../deps.ts';

type Mcp = ApiDeps['config']['mcp'];
type Request = Pick<Context, 'host' | 'path'>;

/**
 * Makes the URL of the metadata of the endpoint, for the form of its URL that the request was sent to: its path with or
 * without the slash, and the name of this machine (RFC 9728, 3.1).
 */
export function resourceMetadataUrl(mcp: Mcp, { host, path }: Request): string {
  const url = urlAt(mcp, host);
  return new URL(metadataPaths(url)[path.endsWith('/') ? 0 : 1], url).href;
}

/** Finds the URL of the endpoint with the host of a request; the configured one where that is none of its names. */
export function urlAt({ url, urls }: Mcp, host: string): string {
  return urls.find((one) => new URL(one).host === host) ?? url;
}

/** Answers the paths of the metadata for the URL with its slash, and without. */
export function metadataPaths(mcpUrl: string): [string, string] {
  const path = `/.well-known/oauth-protected-resource${new URL(mcpUrl).pathname}`;
  return [path, path.replace(/\/$/, '')];
}

/** Serves the metadata for the form of the URL in the request: a client compares it with the URL it was given. */
export function serveResourceMetadata({ config }: ApiDeps): Middleware {
  return function serveResourceMetadata(ctx) {
    const url = urlAt(config.mcp, ctx.host);
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
