import type { Middleware } from 'koa';
import type { Db } from '../../db/connect.ts';
import { recordAssistantUse } from '../../db/tenants/connected-assistants.ts';
import { ServiceError } from '../../flow/errors.ts';
import { loopbackUrls } from '../../platform/config/config.ts';
import { setUser } from '../auth/authenticate.ts';
import { MCP_SCOPES } from '../auth/scopes.ts';
import type { ApiDeps } from '../deps.ts';
import { allowOrigin } from '../http/allow-origin.ts';
import type { ApiMiddleware } from '../http/context.ts';
import type { UserPrincipal } from '../http/principal.ts';
import { resourceMetadataUrl } from './resource-metadata.ts';

export const ORIGIN_NOT_ALLOWED =
  'Web pages of this origin may not use MCP: an operator can allow it in WEIR_MCP_ALLOWED_ORIGINS.';

const SENT_HEADERS = 'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name';

export const SIGN_IN_FIRST = 'Sign in first: the header WWW-Authenticate says where.';
export const NOT_VALID =
  'The token is not valid here: it has expired, or was not issued for MCP. API keys are not accepted.';
const DISCONNECTED =
  'The user has disconnected this client: it needs the consent of the user again, so let the user sign in anew.';

/**
 * Sets `ctx.state.user` to the user of a token for MCP (docs/mcp.md) whose client the user has not disconnected.
 * Otherwise answers 401 with a challenge that says where to sign in.
 */
export function authenticateMcp({ config, db, signInLimiter, tokens }: ApiDeps): ApiMiddleware {
  const bare = loopbackUrls(config.oidc?.mcpAudience.replace(/\/$/, '') ?? '');
  const audiences = bare.flatMap((one) => [`${one}/`, one]);
  return async function authenticateMcp(ctx, next) {
    const header = ctx.get('authorization');
    const token = /^Bearer +(\S+)$/i.exec(header)?.[1] ?? '';
    const refuse = (problem: string): never => {
      ctx.set('WWW-Authenticate', challenge(resourceMetadataUrl(config.mcp, ctx), header && problem));
      throw new ServiceError('UNAUTHENTICATED', problem);
    };
    if (header === '') return refuse(SIGN_IN_FIRST);
    const user = await signInLimiter.check(ctx.req, async () => {
      const found = (await tokens.verify(token, audiences)) ?? refuse(NOT_VALID);
      return (await recordUse(db, found)) ? found : refuse(DISCONNECTED);
    });
    setUser(ctx, user);
    await next();
  };
}

function recordUse(db: Db, { userId, client, scopes, consentedAt }: UserPrincipal): Promise<boolean> {
  return recordAssistantUse(db, { userId, clientId: client.id, name: client.name, scopes, consentedAt });
}

/** Makes a challenge (RFC 6750, 3; RFC 9728, 5.1). It names the scopes of all tools, so that a user consents once. */
function challenge(metadataUrl: string, problem: string): string {
  const error = problem === '' ? [] : ['error="invalid_token"', `error_description="${problem}"`];
  return `Bearer ${[...error, `scope="${MCP_SCOPES.join(' ')}"`, `resource_metadata="${metadataUrl}"`].join(', ')}`;
}

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
