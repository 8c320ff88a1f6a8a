import { sql } from 'kysely';

/** The projects a caller may access: the project of its API key, or those of the user's organizations. */
export type ProjectAccess = { projectId: string } | { userId: string };

/** Whether a caller may access a project, as a condition of a query over `project`. */
export function hasProjectAccess(access: ProjectAccess) {
  return 'projectId' in access
    ? sql<boolean>`project.id = ${access.projectId}`
    : sql<boolean>`exists (
        select from membership
        where membership.organization_id = project.organization_id and membership.user_id = ${access.userId}
      )`;
}
