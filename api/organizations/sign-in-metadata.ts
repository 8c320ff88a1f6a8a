import type { Middleware } from 'koa';
import type { ApiDeps } from '../deps.ts';
import { urlAt } from '../mcp/resource-metadata.ts';

/** Returns the path of the metadata for the management API, one level above the MCP endpoint. */
export function signInMetadataPath(mcpUrl: string): string {
  return `/.well-known/oauth-protected-resource${new URL(apiUrl(mcpUrl)).pathname}`;
}

/**
 * Serves the metadata for `weir login`, with two fields of our own: the audience of tokens, and the client id of the
 * command line.
 */
export function serveSignInMetadata({ config }: ApiDeps): Middleware {
  return function serveSignInMetadata(ctx) {
    const url = urlAt(config.mcp, ctx.host);
    const { oidc, cli } = config;
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.body = {
      resource: apiUrl(url),
      ...(oidc && { authorization_servers: [oidc.issuer], weir_audience: oidc.audience }),
      ...(cli.clientId !== undefined && { weir_cli_client_id: cli.clientId }),
      scopes_supported: cli.scopes.trim().split(/\s+/),
      bearer_methods_supported: ['header'],
      resource_name: 'Weir',
      resource_documentation: new URL('/reference', url).href,
    };
  };
}

function apiUrl(mcpUrl: string): string {
  return mcpUrl.replace(/\/mcp\/$/, '');
}
