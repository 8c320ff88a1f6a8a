import { findProjectOf, type ProjectOfUser } from '../../db/of-user.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { ToolCall } from './tool.ts';

/** A project that the caller may see. Throws NOT_FOUND, the same for unknown and foreign ids. */
export async function getProject({ deps, user }: ToolCall, projectId: string): Promise<ProjectOfUser> {
  const project = await findProjectOf(deps.db, user.userId, projectId);
  if (!project)
    throw new ServiceError(
      'NOT_FOUND',
      `You can see no project with the id ${projectId}: list_projects has those you can.`,
    );
  return project;
}
