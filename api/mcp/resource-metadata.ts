// RFC 9728: where clients of the MCP endpoint sign in, and with which scopes.
import type { Middleware } from 'koa';
import type { ApiDeps } from '../context.ts';
import { MCP_SCOPES } from '../scopes.ts';

export const METADATA_PATH = '/.well-known/oauth-protected-resource/api/v1/mcp';

/** The document for the form of the URL that is asked about: a client compares it with the one it was given. */
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
