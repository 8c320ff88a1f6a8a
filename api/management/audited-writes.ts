// Writes that users make over HTTP and operators with the `weir` command, each with its entry in the audit log.

import type { Tx } from '../../db/connect.ts';
import type { Encryption } from '../../db/encrypt.ts';
import { insertApiKey, type NewApiKey, revokeApiKey } from '../../db/tenants/api-keys.ts';
import { insertMember } from '../../db/tenants/memberships.ts';
import { deleteOrganization, insertOrganization } from '../../db/tenants/organizations.ts';
import { deleteProjects, insertProject } from '../../db/tenants/projects.ts';
import { type Cancelled, cancelOfDeleted } from '../../db/upkeep/cancel-deleted.ts';
import { getSigningSecret } from '../../db/webhooks/webhook-secrets.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { Recorder } from './audited.ts';

type Named = { name: string; slug: string; description: string };

/** Throws CONFLICT when the slug is taken. */
export async function addOrganization(tx: Tx, record: Recorder, details: Named) {
  const row = await insertOrganization(tx, details);
  await record({ organizationId: row.id, action: 'organization.create', resourceId: row.id, details });
  return row;
}

/** `userId`: who creates it, an operator when absent. Throws CONFLICT when the slug is taken. */
export async function addProject(
  tx: Tx,
  record: Recorder,
  { organizationId, userId, ...details }: Named & { organizationId: string; userId?: string },
) {
  const row = await insertProject(tx, {
    organizationId,
    ...(userId !== undefined && { userId }),
    ...details,
  });
  await record({ organizationId, action: 'project.create', resourceId: row.id, details });
  return row;
}

type Deletion = { projectIds: string[]; cancelled: Cancelled };

/** With its projects, and what is under way in them; `cancelDeleted` comes after it. Throws NOT_FOUND. */
export async function removeOrganization(
  tx: Tx,
  record: Recorder,
  organizationId: string,
): Promise<Deletion> {
  await deleteOrganization(tx, organizationId);
  const projectIds = await deleteProjects(tx, organizationId);
  const cancelled = await cancelOfDeleted(tx, { organizationId, projectIds, all: true });
  const details = { projects: projectIds.length, cancelled };
  await record({ organizationId, action: 'organization.delete', resourceId: organizationId, details });
  return { projectIds, cancelled };
}

/** The same for one project; the caller has locked the organization. */
export async function removeProject(
  tx: Tx,
  record: Recorder,
  organizationId: string,
  projectId: string,
): Promise<Deletion> {
  const projectIds = await deleteProjects(tx, organizationId, projectId);
  if (projectIds.length === 0) throw new ServiceError('NOT_FOUND', 'There is no such project.');
  const cancelled = await cancelOfDeleted(tx, { organizationId, projectIds, all: false });
  await record({ organizationId, action: 'project.delete', resourceId: projectId, details: { cancelled } });
  return { projectIds, cancelled };
}

/** Throws CONFLICT when the project has ten active keys. */
export async function addApiKey(
  tx: Tx,
  record: Recorder,
  { organizationId, ...key }: NewApiKey & { organizationId: string },
) {
  const { projectId, keyId, environment, name } = key;
  const details = { project_id: projectId, environment, name };
  await record({ organizationId, action: 'api_key.create', resourceId: keyId, details });
  return insertApiKey(tx, key);
}

/** Throws NOT_FOUND; a key that was revoked before is left as it is. */
export function endApiKey(
  tx: Tx,
  record: Recorder,
  { organizationId, projectId, keyId }: { organizationId: string; projectId: string; keyId: string },
) {
  const details = { project_id: projectId };
  const entry = { organizationId, action: 'api_key.revoke', resourceId: keyId, details };
  return revokeApiKey(tx, projectId, keyId, () => record(entry));
}

/** The organization's signing secret, made when it has none yet. */
export function ensureSigningSecret(
  tx: Tx,
  record: Recorder,
  { encryption, organizationId }: { encryption: Encryption; organizationId: string },
) {
  const made = { organizationId, action: 'webhook_secret.create', resourceId: organizationId };
  return getSigningSecret(tx, encryption, organizationId, () => record(made));
}

/** Throws CONFLICT for who is a member already. */
export async function addMember(tx: Tx, record: Recorder, member: Parameters<typeof insertMember>[1]) {
  const { organizationId, userId, role } = member;
  await record({ organizationId, action: 'member.add', resourceId: userId, details: { role } });
  return insertMember(tx, member);
}
