// OAuth protected resource metadata (RFC 9728), for MCP clients and for `weir login`.
import type { Context, Middleware } from 'koa';
import { MCP_SCOPES } from '../auth/scopes.ts';
import type { ApiDeps } from '../deps.ts';

type Mcp = ApiDeps['config']['mcp'];
type Request = Pick<Context, 'host' | 'path'>;

/**
 * Returns the URL of the endpoint's metadata in the form of the request's URL: with or without the slash, and with
 * the same host (RFC 9728, 3.1).
 */
export function resourceMetadataUrl(mcp: Mcp, { host, path }: Request): string {
  const url = urlAt(mcp, host);
  return new URL(metadataPaths(url)[path.endsWith('/') ? 0 : 1], url).href;
}

/** Returns the endpoint's URL with the host of a request, or the configured URL for an unknown host. */
function urlAt({ url, urls }: Mcp, host: string): string {
  return urls.find((one) => new URL(one).host === host) ?? url;
}

/** Returns the paths of the metadata for the URL with and without its slash. */
export function metadataPaths(mcpUrl: string): [string, string] {
  const path = `/.well-known/oauth-protected-resource${new URL(mcpUrl).pathname}`;
  return [path, path.replace(/\/$/, '')];
}

/** Serves the metadata for the URL form of the request, because clients compare it with the URL they were given. */
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
