import type { KeyScope } from '../../db/tables/access.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { authenticate, authenticateUser } from './authenticate.ts';
import type { AuthDeps } from './deps.ts';
import { limitRate } from './limit-rate.ts';

type Scopes = readonly [KeyScope, ...KeyScope[]];

/**
 * Authenticates users and API keys, and counts the request against their rate limits. A key needs one of `scopes`; a
 * user's role is checked later.
 */
export function identifyCaller(deps: AuthDeps, ...scopes: Scopes): ApiMiddleware[] {
  return [authenticate(deps), limitRate(deps), requireScope(scopes)];
}

/** Authenticates users by a JWT for the management API, and counts the request against their rate limits. */
export function identifyUser(deps: AuthDeps): ApiMiddleware[] {
  return [authenticateUser(deps), limitRate(deps)];
}

function requireScope(keyScopes: Scopes): ApiMiddleware {
  async function requireScope(ctx: Parameters<ApiMiddleware>[0], next: () => Promise<void>) {
    const { principal } = ctx.state;
    if (principal.kind === 'key' && !keyScopes.some((scope) => principal.key.scopes.includes(scope)))
      throw lacksScope(keyScopes, principal.key.scopes);
    await next();
  }
  return Object.assign(requireScope, { keyScopes });
}

/** Lists the key scopes that an endpoint accepts; empty where it takes no keys. */
export function keyScopesOf({ handlers }: Route): readonly KeyScope[] {
  for (const handler of handlers) if ('keyScopes' in handler) return handler.keyScopes as Scopes;
  return [];
}

export function lacksScope(needed: Scopes, has: readonly KeyScope[]): ServiceError {
  const text = `This needs an API key with the scope ${needed.join(' or ')}; this key has ${has.join(', ')}.`;
  return new ServiceError('FORBIDDEN', `${text} An owner or admin of the organization can create one.`);
}
