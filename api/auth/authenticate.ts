// auth/ finds who is calling (the principal) and what they may do. This file: API keys and JWTs
// (docs/identity-and-access.md).

import { logOutage } from '../../db/connection/database-errors.ts';
import type { KeyScope } from '../../db/tables/access.ts';
import type { FoundApiKey } from '../../db/tenants/api-keys.ts';
import { findRole } from '../../db/tenants/memberships.ts';
import { findOperatorKey, touchOperatorKey } from '../../db/tenants/operator-keys.ts';
import { findUserOrganization } from '../../db/tenants/organizations.ts';
import { ServiceError } from '../../flow/errors.ts';
import { addToLogContext, log } from '../../platform/observability/log.ts';
import type { ApiContext, ApiMiddleware, Route } from '../http/context.ts';
import {
  createUserPrincipal,
  type KeyPrincipal,
  type Principal,
  type UserPrincipal,
} from '../http/principal.ts';
import { parseApiKey, secretMatches } from './api-key.ts';
import type { AuthDeps } from './deps.ts';
import { limitRate } from './limit-rate.ts';
import type { MemberCache } from './member-cache.ts';

type Scopes = readonly [KeyScope, ...KeyScope[]];

const API_KEY_PREFIX = /^weir_(?!operator_)/;
const OPERATOR_KEY_PREFIX = /^weir_operator_/;
/** Operators' keys do not expire; they are revoked. */
const NEVER = new Date(8.64e15);
/** The credentials that most endpoints take. */
export const KEY_OR_TOKEN = 'an API key (weir_…) or a JWT';

/**
 * Sets `ctx.state.user` and `principal` for endpoints that take no API keys: only JWTs for the management API and, unless
 * the endpoint is about a person, operators' keys. Throws UNAUTHENTICATED.
 */
export function authenticateUser(deps: AuthDeps, { person = false } = {}): ApiMiddleware {
  return async function authenticateUser(ctx, next) {
    const token = bearerToken(ctx.get('authorization'), 'a JWT');
    if (API_KEY_PREFIX.test(token)) throw keyRefused({ person });
    const user = await deps.signInLimiter.check(ctx.req, () => getUser(deps, token));
    if (person && user.operatorKey) throw keyRefused({ person });
    setUser(ctx, user);
    await next();
  };
}

/** Sets `ctx.state.user` and `principal` to an authenticated user, and adds the user to the log context. */
export function setUser(ctx: ApiContext, user: UserPrincipal): void {
  ctx.state.user = user;
  ctx.state.principal = user;
  nameInLog(user);
}

function nameInLog(principal: Principal): void {
  if (principal.kind === 'user') addToLogContext({ user_id: principal.userId });
  else addToLogContext({ key_id: principal.key.key_id, organization_id: principal.organizationId });
}

/** The 401 for a key where a user is asked for; `person`: no operator's key either. */
export function keyRefused({ person = false } = {}): ServiceError {
  const text = person
    ? 'This endpoint is about the user who is signed in. It takes the JWT of a user, and no key.'
    : 'This endpoint takes the JWT of a user or the key of an operator (weir_operator_…), not an API key of a project.';
  return new ServiceError('UNAUTHENTICATED', text);
}

/** Reads the token of an Authorization header; '' when the header is malformed. Throws UNAUTHENTICATED when it is missing. */
export function bearerToken(header: string, what: string): string {
  if (header === '') throw new ServiceError('UNAUTHENTICATED', `Send ${what} as Authorization: Bearer ….`);
  return /^Bearer +(\S+)$/i.exec(header)?.[1] ?? '';
}

async function getUser(deps: AuthDeps, token: string): Promise<UserPrincipal> {
  if (OPERATOR_KEY_PREFIX.test(token)) return getOperator(deps, token);
  const { config, tokens } = deps;
  const user = await tokens.verify(token, config.oidc ? [config.oidc.audience] : []);
  return markOperator(config, user ?? refuseCredentials());
}

/** Gives a user of WEIR_OPERATORS the rights of an operator. */
export function markOperator({ operators }: AuthDeps['config'], user: UserPrincipal): UserPrincipal {
  return operators.has(user.userId) ? { ...user, isOperator: true } : user;
}

/** Looks the key up for each request, so that a revoked one is refused at once. */
async function getOperator({ config, db }: AuthDeps, token: string): Promise<UserPrincipal> {
  const parts = parseApiKey(token);
  if (!parts) return refuseKey('it does not have the form of an operator’s key');
  const key = await findOperatorKey(db, parts.keyId);
  const hasItsSecret = secretMatches(parts.secret, key?.secret_hmac, config.apiKeyPepper);
  if (!key) return refuseKey('the operator’s key does not exist', parts.keyId);
  if (!hasItsSecret) return refuseKey('its secret or WEIR_API_KEY_PEPPER is wrong', parts.keyId);
  if (key.revoked_at) return refuseKey('it is revoked', parts.keyId);
  touchOperatorKey(db, key.id).catch((error: Error) => {
    if (!logOutage(error)) log.warn({ err: error }, 'The use of an operator’s key could not be recorded.');
  });
  return {
    ...createUserPrincipal(`operator/${key.key_id}`, NEVER),
    isOperator: true,
    operatorKey: key,
  };
}

async function getKey({ config, apiKeys }: AuthDeps, token: string): Promise<KeyPrincipal> {
  const parts = parseApiKey(token);
  if (!parts) return refuseKey('it does not have the form of an API key');
  const matches = (key?: FoundApiKey) => secretMatches(parts.secret, key?.secret_hmac, config.apiKeyPepper);
  const key = await apiKeys.find(parts.keyId, matches);
  const hasItsSecret = matches(key);
  if (!key) return refuseKey('the key does not exist', parts.keyId);
  if (!hasItsSecret) return refuseKey('its secret or WEIR_API_KEY_PEPPER is wrong', parts.keyId);
  if (key.revoked_at) return refuseKey('it is revoked', parts.keyId);
  if (!isUsable(key)) return refuseKey('it has expired', parts.keyId);
  if (key.environment !== parts.kind) return refuseKey('it is of another environment', parts.keyId);
  apiKeys.recordUse(key);
  return {
    kind: 'key',
    key,
    organizationId: key.organization_id,
    projectId: key.project_id,
    userId: key.created_by,
    environment: key.environment,
  };
}

/** Throws the 401 of an API key. Only the log gets the reason. */
function refuseKey(reason: string, keyId?: string): never {
  addToLogContext({ ...(keyId !== undefined && { key_id: keyId }), reason });
  return refuseCredentials();
}

/** Throws the 401 of a key or token that is not valid. */
export function refuseCredentials(): never {
  throw new ServiceError(
    'UNAUTHENTICATED',
    'The API key or token is not valid: it is unknown, revoked, expired or not for this service.',
  );
}

/** Whether a key exists and is neither revoked nor expired. */
function isUsable(key: FoundApiKey | undefined): key is FoundApiKey {
  return key !== undefined && !key.revoked_at && !isPast(key.expires_at);
}

function isPast(date: Date | null): boolean {
  return date !== null && date.getTime() <= Date.now();
}

/**
 * Authenticates users and API keys into `ctx.state.principal`, and counts the request against their rate limits. Answers the same
 * 401 for every problem with the key or token. A key needs one of `keyScopes`; a user's role is checked later.
 */
export function identifyCaller(deps: AuthDeps, ...keyScopes: Scopes): ApiMiddleware[] {
  const limit = limitRate(deps);
  const identifyCaller: ApiMiddleware = async (ctx, next) => {
    const token = bearerToken(ctx.get('authorization'), KEY_OR_TOKEN);
    const principal = await deps.signInLimiter.check(ctx.req, async () =>
      API_KEY_PREFIX.test(token) ? getKey(deps, token) : getUser(deps, token),
    );
    ctx.state.principal = principal;
    nameInLog(principal);
    if (principal.kind === 'key') ctx.state.key = principal.key;
    return limit(ctx, () => {
      if (principal.kind === 'key' && !keyScopes.some((scope) => principal.key.scopes.includes(scope)))
        throw lacksScope(keyScopes, principal.key.scopes);
      return next();
    });
  };
  return [Object.assign(identifyCaller, { keyScopes })];
}

/**
 * Authenticates users by a JWT for the management API, and operators by their keys, and counts the request against their
 * rate limits.
 */
export function identifyUser(deps: AuthDeps): ApiMiddleware[] {
  return [authenticateUser(deps), limitRate(deps)];
}

/** As `identifyUser`, for endpoints about the signed-in person: an operator's key stands for nobody. */
export function identifyPerson(deps: AuthDeps): ApiMiddleware[] {
  return [authenticateUser(deps, { person: true }), limitRate(deps)];
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

/**
 * Finds why an admitted caller has lost access to the organization's flows: the key or token is no longer valid, or
 * the user has left (`isMember`). Undefined while they have access.
 */
export async function findLostAccess(
  { db, apiKeys }: Pick<AuthDeps, 'db' | 'apiKeys'>,
  principal: Principal,
  organizationId: string,
  isMember: MemberCache['has'] = async (...ids) => (await findRole(db, ...ids)) !== undefined,
): Promise<'unauthenticated' | 'not_member' | undefined> {
  if (principal.kind === 'key')
    return isUsable(await apiKeys.find(principal.key.key_id)) ? undefined : 'unauthenticated';
  if (principal.operatorKey && (await findOperatorKey(db, principal.operatorKey.key_id))?.revoked_at !== null)
    return 'unauthenticated';
  if (principal.expiresAt.getTime() <= Date.now()) return 'unauthenticated';
  if (principal.isOperator)
    return (await findUserOrganization(db, principal, { id: organizationId })) ? undefined : 'not_member';
  return (await isMember(organizationId, principal.userId)) ? undefined : 'not_member';
}

/** Whether an admitted caller may still read the organization's flows. The answer may be up to 10 s old. */
export async function mayStillRead(
  deps: Pick<AuthDeps, 'db' | 'apiKeys' | 'members'>,
  principal: Principal,
  organizationId: string,
): Promise<boolean> {
  return !(await findLostAccess(deps, principal, organizationId, deps.members.has));
}
