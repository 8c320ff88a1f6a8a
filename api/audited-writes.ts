// Writes that users make over HTTP and operators with the `weir` command, each with its entry in the audit log.
import { insertApiKey, type NewApiKey, revokeApiKey } from '../db/api-keys.ts';
import type { Tx } from '../db/connect.ts';
import type { Encryption } from '../db/encrypt.ts';
import { insertMember } from '../db/memberships.ts';
import { insertOrganization } from '../db/organizations.ts';
import { insertProject } from '../db/projects.ts';
import { getSigningSecret } from '../db/webhook-secrets.ts';
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
