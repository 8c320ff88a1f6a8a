import { onBehalfOf } from '../../db/connection/connection-turns.ts';
import type { Role } from '../../db/schema.ts';
import { projectNotFound } from '../../db/tenants/projects.ts';
import { findUserProject } from '../../db/tenants/user-projects.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { authorizeBy, requireRole } from './authorize-organization.ts';
import type { AuthDeps } from './deps.ts';

/**
 * Sets `ctx.state.project` and `ctx.state.membership` for users who have at least the role `least` in the project's
 * organization. Answers the same 404 for projects that do not exist and for those of other organizations.
 */
export function loadProject(deps: AuthDeps, least: Role): ApiMiddleware {
  return async function loadProject(ctx, next) {
    const { project_id: id = '' } = ctx.params;
    if (!UUID_PATTERN.test(id)) throw projectNotFound();
    const { project } = await authorizeBy(ctx.state, deps, async (db) => {
      const project = await findUserProject(db, ctx.state.user.userId, id);
      if (!project) throw projectNotFound();
      requireRole(project.role, least);
      return { organizationId: project.organization_id, role: project.role, project };
    });
    ctx.state.project = project;
    await onBehalfOf(project.organization_id, next);
  };
}
