import type { Tx } from '../../db/connect.ts';
import { insertApiKey, type NewApiKey, revokeApiKey } from '../../db/tenants/api-keys.ts';
import { type Author, recordChange } from '../../db/tenants/audit-entries.ts';
import { deleteProjects, insertProject, projectNotFound } from '../../db/tenants/projects.ts';
import { type Cancelled, cancelOfDeleted } from '../../db/upkeep/cancel-of-deleted.ts';

export type Named = { name: string; slug: string; description: string };

/**
 * Creates a project for the user `userId` or, without one, for an operator. Throws CONFLICT when the slug is taken.
 */
export async function addProject(
  tx: Tx,
  author: Author,
  { organizationId, userId, ...details }: Named & { organizationId: string; userId?: string },
) {
  const row = await insertProject(tx, {
    organizationId,
    ...(userId !== undefined && { userId }),
    ...details,
  });
  await recordChange(tx, author, { organizationId, action: 'project.create', resourceId: row.id, details });
  return row;
}

export type Deletion = { projectIds: string[]; cancelled: Cancelled };

/**
 * Deletes a project of an organization that the caller has locked, and marks everything in flight as cancelled: call
 * `cancelDeleted` after the transaction. Throws NOT_FOUND.
 */
export async function removeProject(
  tx: Tx,
  author: Author,
  organizationId: string,
  projectId: string,
): Promise<Deletion> {
  const projectIds = await deleteProjects(tx, organizationId, projectId);
  if (projectIds.length === 0) throw projectNotFound();
  const cancelled = await cancelOfDeleted(tx, { organizationId, projectIds, all: false });
  await recordChange(tx, author, {
    organizationId,
    action: 'project.delete',
    resourceId: projectId,
    details: { cancelled },
  });
  return { projectIds, cancelled };
}

/** Adds an API key. Throws CONFLICT when the project has ten active keys. */
export async function addApiKey(
  tx: Tx,
  author: Author,
  { organizationId, ...key }: NewApiKey & { organizationId: string },
) {
  const { projectId, keyId, environment, name, scopes } = key;
  const details = { project_id: projectId, environment, name, ...(scopes && { scopes }) };
  await recordChange(tx, author, { organizationId, action: 'api_key.create', resourceId: keyId, details });
  return insertApiKey(tx, key);
}

/** Revokes an API key; does nothing for a revoked key. Throws NOT_FOUND. */
export async function endApiKey(
  tx: Tx,
  author: Author,
  { organizationId, projectId, keyId }: { organizationId: string; projectId: string; keyId: string },
) {
  const { row, changed } = await revokeApiKey(tx, projectId, keyId);
  const details = { project_id: projectId };
  if (changed)
    await recordChange(tx, author, { organizationId, action: 'api_key.revoke', resourceId: keyId, details });
  return row;
}
