// Roles: who may do what in an organization (docs/identity-and-access.md, Roles).
import type { Db } from '../../db/connect.ts';
import { forOrganization } from '../../db/connection/connection-turns.ts';
import type { Role } from '../../db/schema.ts';
import { findRole } from '../../db/tenants/memberships.ts';
import { organizationNotFound } from '../../db/tenants/organizations.ts';
import { ServiceError } from '../../flow/errors.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import type { ApiMiddleware, ApiState, CallerMembership } from '../http/context.ts';
import type { Principal } from '../http/principal.ts';
import type { AuthDeps } from './deps.ts';

/** The more a role may do, the higher. */
const RANK: { [role in Role]: number } = { member: 0, admin: 1, owner: 2 };
const REQUIRED: { [role in Role]: string } = {
  member: 'a member',
  admin: 'an admin or owner',
  owner: 'an owner',
};

/**
 * Admits members of the organization in the path who have at least `role`, and sets `ctx.state.membership`. Strangers
 * get the same answer whether the organization exists or not: 404, or 403 where the API contract asks for it
 * (`strangers`). A malformed id is 404.
 */
export function authorizeOrganization(
  deps: AuthDeps,
  { role: least, strangers = 'NOT_FOUND' }: { role: Role; strangers?: 'NOT_FOUND' | 'FORBIDDEN' },
): ApiMiddleware {
  return async function authorizeOrganization(ctx, next) {
    const organizationId = ctx.params.org_id?.toLowerCase() ?? '';
    if (!UUID_PATTERN.test(organizationId)) throw organizationNotFound();
    await authorizeBy(ctx.state, deps, async (db) => {
      const role = await roleOf(db, ctx.state.principal, organizationId);
      if (!role) throw strangers === 'NOT_FOUND' ? organizationNotFound() : lacksRole(least);
      requireRole(role, least);
      return { organizationId, role };
    });
    await forOrganization(organizationId, next);
  };
}

/**
 * Sets `membership` to the result of `find`, and saves the caller's profile for other members. A write authorizes
 * again (`writeAuthorized`).
 */
export async function authorizeBy<T extends CallerMembership>(
  state: ApiState,
  { db, memberProfiles }: Pick<AuthDeps, 'db' | 'memberProfiles'>,
  find: (db: Db) => Promise<T>,
): Promise<T> {
  const membership = await find(db);
  memberProfiles.save(membership.organizationId, state.principal);
  state.membership = membership;
  state.authorizeAgain = find;
  return membership;
}

/**
 * Finds a caller's role in an organization; undefined for strangers. An API key has the role of its creator, or
 * `member` after the creator has left. A key that an operator created is an admin.
 */
async function roleOf(db: Db, principal: Principal, organizationId: string): Promise<Role | undefined> {
  if (principal.kind === 'user') return findRole(db, organizationId, principal.userId);
  if (principal.organizationId !== organizationId) return undefined;
  if (principal.userId === null) return 'admin';
  return (await findRole(db, organizationId, principal.userId)) ?? 'member';
}

/** Throws FORBIDDEN unless `role` includes the rights of `least`. */
export function requireRole(role: Role, least: Role): void {
  if (RANK[role] < RANK[least]) throw lacksRole(least);
}

export function lacksRole(least: Role): ServiceError {
  return new ServiceError('FORBIDDEN', `This needs ${REQUIRED[least]} of the organization.`);
}
