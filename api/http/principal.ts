// The caller (docs/identity-and-access.md): an API key, or a user with a JWT of the identity provider.
import { createHash } from 'node:crypto';
import type { Environment } from '../../db/schema.ts';
import type { FoundApiKey } from '../../db/tenants/api-keys.ts';
import type { Author } from '../../db/tenants/audit-entries.ts';
import type { FoundOperatorKey } from '../../db/tenants/operator-keys.ts';
import type { Viewer } from '../../db/tenants/organizations.ts';
import type { ProjectAccess } from '../../db/tenants/projects.ts';

/** `userId`: the user who made the key; null when an operator did. */
export type KeyPrincipal = {
  kind: 'key';
  key: FoundApiKey;
  organizationId: string;
  projectId: string;
  userId: string | null;
  environment: Environment;
};

/** A user's name and e-mail address from the identity provider, and whether it has verified that the address is the user's. */
export type Profile = { name: string | null; email: string | null; emailVerified: boolean };

/**
 * A user, or an operator's key. `userId`: the token's `sub`, or `operator/` and the id of the key. `audience`: the one of
 * this service's audiences that the token was issued for.
 */
export type UserPrincipal = {
  kind: 'user';
  userId: string;
  /** The caller may do what an owner of any organization may: a user of WEIR_OPERATORS, or an operator's key. */
  isOperator?: true;
  operatorKey?: FoundOperatorKey;
  profile: Profile;
  scopes: string[];
  audience: string;
  /** The OAuth client that the token was issued to: its id (`''` when the token does not name it) and its name. */
  client: { id: string; name?: string };
  /** When the user consented to the client. Defaults to the token's issue time, or 1970 without one. */
  consentedAt: Date;
  /** 1970 when the token has none. */
  issuedAt: Date;
  expiresAt: Date;
  environment: 'live';
};

export type Principal = KeyPrincipal | UserPrincipal;

/** Creates the principal of a caller without a token, of whom nothing but the id is known. */
export function createUserPrincipal(userId: string, expiresAt: Date): UserPrincipal {
  return {
    kind: 'user',
    userId,
    profile: { name: null, email: null, emailVerified: false },
    scopes: [],
    audience: '',
    client: { id: '' },
    consentedAt: new Date(0),
    issuedAt: new Date(0),
    expiresAt,
    environment: 'live',
  };
}

/** Returns the id for fair queueing: the organization of a key, or the user. */
export function ownerOf(principal: Principal): string {
  return principal.kind === 'key' ? principal.organizationId : principal.userId;
}

/**
 * Returns for whom a list of organizations or projects is made. The lists of a signed-in operator have only what the user
 * belongs to; an operator's key belongs nowhere, so that its lists have everything.
 */
export function viewerOfLists({ userId, operatorKey }: UserPrincipal): Viewer {
  return { userId, ...(operatorKey && { isOperator: true }) };
}

/** Returns the projects that a caller may access. */
export function accessOf(principal: Principal): ProjectAccess {
  if (principal.kind === 'key') return { projectId: principal.projectId };
  const { userId, isOperator } = principal;
  return { userId, ...(isOperator && { isOperator }) };
}

/** Returns the id of the calling user; undefined for an API key. */
export function userOf(principal: Principal): string | undefined {
  return principal.kind === 'user' ? principal.userId : undefined;
}

/** Returns the caller as an author in the audit log. */
export function authorOf(principal: Principal, requestId: string): Author {
  const actor = principal.kind === 'user' ? principal.userId : `api_key/${principal.key.key_id}`;
  return { actor, requestId };
}

/** Returns the caller's key in the table of rate limits: the id of an API key, or a hash of the user id. */
export function rateLimitSubject(principal: Principal): string {
  if (principal.kind === 'key') return principal.key.id;
  if (principal.operatorKey) return principal.operatorKey.id;
  const hash = createHash('sha256').update(`user ${principal.userId}`).digest('hex');
  return hash.slice(0, 32);
}
