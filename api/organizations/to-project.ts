import type { ProjectRow } from '../../db/tenants/projects.ts';

/** Describes a project for responses and the `weir` command. */
export function toProject(row: ProjectRow) {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    organizationId: row.organization_id,
    userId: row.user_id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
