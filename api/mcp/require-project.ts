import type { Tx } from '../../db/connect.ts';
import { findUserProject, lockUserProject, type UserProject } from '../../db/tenants/user-projects.ts';
import { ServiceError } from '../../flow/errors.ts';
import { addToLogContext } from '../../platform/observability/log-context.ts';
import type { McpCall } from './tool.ts';

/**
 * Finds a project that the caller may see. Throws the same NOT_FOUND for unknown projects and for projects of others.
 */
export async function requireProject({ deps, user }: McpCall, projectId: string): Promise<UserProject> {
  const project = (await findUserProject(deps.db, user.userId, projectId)) ?? throwProjectNotFound(projectId);
  deps.memberProfiles.save(project.organization_id, user);
  addToLogContext({ organization_id: project.organization_id });
  return project;
}

/** Finds such a project and locks it until the transaction ends. */
export async function requireLockedProject(
  tx: Tx,
  { user }: Pick<McpCall, 'user'>,
  projectId: string,
): Promise<UserProject> {
  const project = (await lockUserProject(tx, user.userId, projectId)) ?? throwProjectNotFound(projectId);
  addToLogContext({ organization_id: project.organization_id });
  return project;
}

function throwProjectNotFound(projectId: string): never {
  throw new ServiceError(
    'NOT_FOUND',
    `You cannot see a project with the id ${projectId}: list_projects lists those you can see.`,
  );
}
