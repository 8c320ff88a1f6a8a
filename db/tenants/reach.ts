import { sql } from 'kysely';

/** What a caller may reach: the project of its API key, or those of the organizations a user belongs to. */
export type Reach = { projectId: string } | { userId: string };

/** Whether a caller may reach a project; a condition of a query over `project`. */
export function withinReach(reach: Reach) {
  return 'projectId' in reach
    ? sql<boolean>`project.id = ${reach.projectId}`
    : sql<boolean>`exists (
        select from membership
        where membership.organization_id = project.organization_id and membership.user_id = ${reach.userId}
      )`;
}
