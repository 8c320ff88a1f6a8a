import { findProjectOf } from '../db/of-user.ts';
import type { Role } from '../db/schema.ts';
import { ServiceError } from '../flow/errors.ts';
import { authorizeBy, requireRole } from './authorize-organization.ts';
import type { ApiDeps, ApiMiddleware } from './context.ts';
import { UUID } from './load-run.ts';

/**
 * Sets `ctx.state.project` and `ctx.state.membership`, for users with at least the role in its organization. Unknown
 * and foreign projects answer the same 404.
 */
export function loadProject({ db }: ApiDeps, least: Role): ApiMiddleware {
  return async function loadProject(ctx, next) {
    const { project_id: id = '' } = ctx.params;
    if (!UUID.test(id)) throw projectNotFound();
    await authorizeBy(ctx, db, async (db) => {
      const project = await findProjectOf(db, ctx.state.user.userId, id);
      if (!project) throw projectNotFound();
      requireRole(project.role, least);
      ctx.state.project = project;
      return { organizationId: project.organization_id, role: project.role };
    });
    await next();
  };
}

export function projectNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'There is no such project.');
}
