// Roles: who may do what in an organization (docs/identity-and-access.md, Roles).
import { type Db, inTransaction, type Tx } from '../../db/connect.ts';
import type { Role } from '../../db/schema.ts';
import { findKeyProject } from '../../db/tenants/api-keys.ts';
import type { Author } from '../../db/tenants/audit-entries.ts';
import { findRole } from '../../db/tenants/memberships.ts';
import {
  findUserOrganization,
  lockOrganization,
  organizationNotFound,
} from '../../db/tenants/organizations.ts';
import { findUserProject, projectNotFound, type UserProject } from '../../db/tenants/projects.ts';
import { ServiceError } from '../../flow/errors.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { addToLogContext } from '../../platform/observability/log.ts';
import type { ApiMiddleware, ApiState, CallerMembership } from '../http/context.ts';
import { onceFor } from '../http/keyed-request.ts';
import { authorOf, type Principal } from '../http/principal.ts';
import { refuseCredentials } from './authenticate.ts';
import type { AuthDeps } from './deps.ts';

type CallerState = Pick<ApiState, 'principal' | 'requestId' | 'membership' | 'authorizeAgain' | 'keyed'>;

type Write<T> = (tx: Tx, author: Author, membership: CallerMembership) => Promise<T>;

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
    addToLogContext({ organization_id: organizationId });
    await next();
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
  if (principal.kind === 'user')
    return (await findUserOrganization(db, principal, { id: organizationId }))?.role;
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

/**
 * Writes in one transaction, which first authorizes the caller again and locks the organization, so that the caller's
 * rights hold until the commit. The write records itself under `author` (`recordChange`). A request with an Idempotency-Key that
 * was carried out before gets the result of that time.
 */
export function writeAuthorized<T>(db: Db, caller: CallerState, write: Write<T>): Promise<T> {
  return inTransaction(db, async (tx) => {
    let { membership } = caller;
    if (caller.authorizeAgain) {
      await lockOrganization(tx, membership.organizationId);
      membership = await caller.authorizeAgain(tx);
    }
    return onceFor(caller.keyed, tx, () =>
      write(tx, authorOf(caller.principal, caller.requestId), membership),
    );
  });
}

/**
 * Sets `ctx.state.project` and `ctx.state.membership` for callers who have at least the role `least` in the project's
 * organization. An API key is a member in its own project alone. Throws the same NOT_FOUND for unknown projects and
 * for projects of others.
 */
export function loadProject(deps: AuthDeps, least: Role): ApiMiddleware {
  return async function loadProject(ctx, next) {
    const { project_id: id = '' } = ctx.params;
    if (!UUID_PATTERN.test(id)) throw projectNotFound();
    const { project } = await authorizeBy(ctx.state, deps, async (db) => {
      const project = await findProject(db, ctx.state.principal, id);
      if (!project) throw projectNotFound();
      requireRole(project.role, least);
      return { organizationId: project.organization_id, role: project.role, project };
    });
    ctx.state.project = project;
    addToLogContext({ organization_id: project.organization_id });
    await next();
  };
}

async function findProject(db: Db, principal: Principal, id: string): Promise<UserProject | undefined> {
  if (principal.kind === 'user') return findUserProject(db, principal, id);
  if (principal.projectId !== id.toLowerCase()) return undefined;
  return (await findKeyProject(db, principal.key.id)) ?? refuseCredentials();
}

/**
 * Admits operators to any organization. Throws FORBIDDEN for its members, and the same 404 for
 * everybody else, whether it exists or not.
 */
export function authorizeOperator({ db }: AuthDeps): ApiMiddleware {
  return async function authorizeOperator(ctx, next) {
    const organizationId = ctx.params.org_id?.toLowerCase() ?? '';
    if (!UUID_PATTERN.test(organizationId)) throw organizationNotFound();
    const organization = await findUserOrganization(db, ctx.state.user, { id: organizationId });
    if (!organization) throw organizationNotFound();
    if (!ctx.state.user.isOperator) throw operatorsOnly();
    addToLogContext({ organization_id: organizationId });
    await next();
  };
}

export function operatorsOnly(): ServiceError {
  return new ServiceError('FORBIDDEN', 'This needs an operator of the service.');
}
