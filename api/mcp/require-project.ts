import type { Tx } from '../../db/connect.ts';
import {
  findUserProject,
  findUserProjectForUpdate,
  type UserProject,
} from '../../db/tenants/user-projects.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { ToolCall } from './tool.ts';

/** A project that the caller may see. Throws NOT_FOUND, the same for unknown and foreign ids. */
export async function requireProject({ deps, user }: ToolCall, projectId: string): Promise<UserProject> {
  return (await findUserProject(deps.db, user.userId, projectId)) ?? unknownProject(projectId);
}

/** The same, until the transaction ends. */
export async function requireLockedProject(
  tx: Tx,
  { user }: Pick<ToolCall, 'user'>,
  projectId: string,
): Promise<UserProject> {
  return (await findUserProjectForUpdate(tx, user.userId, projectId)) ?? unknownProject(projectId);
}

function unknownProject(projectId: string): never {
  throw new ServiceError(
    'NOT_FOUND',
    `You can see no project with the id ${projectId}: list_projects has those you can.`,
  );
}
