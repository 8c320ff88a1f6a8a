// Who calls (spec: Authentication): an API key, or a user whose identity provider issued a JWT.
import { createHash } from 'node:crypto';
import type { Environment } from '../../db/schema.ts';
import type { FoundApiKey } from '../../db/tenants/api-keys.ts';

/** `userId`: who made the key; null when an operator did. */
export type KeyPrincipal = {
  kind: 'key';
  key: FoundApiKey;
  organizationId: string;
  projectId: string;
  userId: string | null;
  environment: Environment;
};

/** `userId`: the token's `sub`. A user's runs are live. `audience`: the one of ours that the token was issued for. */
export type UserPrincipal = {
  kind: 'user';
  userId: string;
  email?: string;
  scopes: string[];
  audience: string;
  expiresAt: Date;
  environment: 'live';
};

export type Principal = KeyPrincipal | UserPrincipal;

/** An id of a caller, for rate limits: a user's is made of the userId. */
export function rateLimitSubject(principal: Principal): string {
  if (principal.kind === 'key') return principal.key.id;
  const hash = createHash('sha256').update(`user ${principal.userId}`).digest('hex');
  return hash.slice(0, 32);
}
