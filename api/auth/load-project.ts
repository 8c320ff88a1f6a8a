import type { Db } from '../../db/connect.ts';
import { forOrganization } from '../../db/connection/connection-turns.ts';
import type { Role } from '../../db/schema.ts';
import { findKeyProject } from '../../db/tenants/find-key-project.ts';
import { projectNotFound } from '../../db/tenants/projects.ts';
import { findUserProject, type UserProject } from '../../db/tenants/user-projects.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import type { ApiMiddleware } from '../http/context.ts';
import type { Principal } from '../http/principal.ts';
import { refuseCredentials } from './authenticate.ts';
import { authorizeBy, requireRole } from './authorize-organization.ts';
import type { AuthDeps } from './deps.ts';

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
    await forOrganization(project.organization_id, next);
  };
}

async function findProject(db: Db, principal: Principal, id: string): Promise<UserProject | undefined> {
  if (principal.kind === 'user') return findUserProject(db, principal.userId, id);
  if (principal.projectId !== id.toLowerCase()) return undefined;
  return (await findKeyProject(db, principal.key.id)) ?? refuseCredentials();
}
