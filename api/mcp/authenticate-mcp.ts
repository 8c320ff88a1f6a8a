// Authenticates MCP clients by JWTs issued for MCP (docs/mcp.md); its challenges let them sign in.
import { ServiceError } from '../../flow/errors.ts';
import { MCP_SCOPES } from '../auth/scopes.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { resourceMetadataUrl } from './resource-metadata.ts';

/**
 * Sets `ctx.state.user` to the user of a token whose audience is MCP; otherwise answers 401, which says where to sign
 * in.
 */
export function authenticateMcp({ config, signInLimiter, tokens }: ApiDeps): ApiMiddleware {
  const bare = config.oidc?.mcpAudience.replace(/\/$/, '') ?? '';
  return async function authenticateMcp(ctx, next) {
    const header = ctx.get('authorization');
    const token = /^Bearer +(\S+)$/i.exec(header)?.[1] ?? '';
    const refuse = (): never => {
      const problem =
        header === ''
          ? 'Sign in first: the header WWW-Authenticate says where.'
          : 'The token is not valid here: it has expired, or was not issued for MCP. API keys are not accepted.';
      ctx.set(
        'WWW-Authenticate',
        challenge(resourceMetadataUrl(config.mcp.url, ctx.path), header && problem),
      );
      throw new ServiceError('UNAUTHENTICATED', problem);
    };
    if (header === '') return refuse();
    const user = await signInLimiter.check(
      ctx.req,
      token,
      async () => (await tokens.verify(token, [`${bare}/`, bare])) ?? refuse(),
    );
    ctx.state.user = user;
    ctx.state.principal = user;
    await next();
  };
}

/** Makes a challenge (RFC 6750, 3; RFC 9728, 5.1). It names the scopes of all tools, so that a user is asked once. */
function challenge(metadataUrl: string, problem: string): string {
  const error = problem === '' ? [] : ['error="invalid_token"', `error_description="${problem}"`];
  return `Bearer ${[...error, `scope="${MCP_SCOPES.join(' ')}"`, `resource_metadata="${metadataUrl}"`].join(', ')}`;
}
