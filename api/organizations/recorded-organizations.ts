// Writes about organizations, their credits, projects and API keys, shared by HTTP and the `weir` command. Each
// records itself in the audit log.
import type { Tx } from '../../db/connect.ts';
import { type Grant, grantCredits, grantStartingCredits } from '../../db/credits/ledger.ts';
import { insertApiKey, type NewApiKey, revokeApiKey } from '../../db/tenants/api-keys.ts';
import { type Author, recordChange } from '../../db/tenants/audit-entries.ts';
import { deleteOrganization, insertOrganization } from '../../db/tenants/organizations.ts';
import { deleteProjects, insertProject, projectNotFound } from '../../db/tenants/projects.ts';
import { type Cancelled, cancelOfDeleted } from '../../db/upkeep/cancel-of-deleted.ts';
import { MICROCREDITS_PER_CREDIT, toMicrocredits } from '../../flow/credit-amount.ts';
import { ServiceError } from '../../flow/errors.ts';

type Named = { name: string; slug: string; description: string };

type Deletion = { projectIds: string[]; cancelled: Cancelled };

/** Creates an organization. Throws CONFLICT when the slug is taken. */
export async function addOrganization(tx: Tx, author: Author, details: Named) {
  const row = await insertOrganization(tx, details);
  await recordChange(tx, author, {
    organizationId: row.id,
    action: 'organization.create',
    resourceId: row.id,
    details,
  });
  return row;
}

/**
 * Deletes an organization with its projects, and marks everything in flight as cancelled: call `cancelDeleted` after
 * the transaction. Throws NOT_FOUND.
 */
export async function removeOrganization(tx: Tx, author: Author, organizationId: string): Promise<Deletion> {
  await deleteOrganization(tx, organizationId);
  const projectIds = await deleteProjects(tx, organizationId);
  const cancelled = await cancelOfDeleted(tx, author.actor, { organizationId, projectIds, all: true });
  const details = { projects: projectIds.length, cancelled };
  await recordChange(tx, author, {
    organizationId,
    action: 'organization.delete',
    resourceId: organizationId,
    details,
  });
  return { projectIds, cancelled };
}

/**
 * Grants credits, once per `key`. Throws NOT_FOUND, VALIDATION_ERROR for an amount that is too large, and
 * IDEMPOTENCY_KEY_REUSED when the key was used for another amount.
 */
export async function addCredits(
  tx: Tx,
  author: Author,
  { organizationId, microcredits, key }: { organizationId: string; microcredits: number; key: string },
): Promise<Grant> {
  const grant = await grantCredits(tx, organizationId, microcredits, `grant/${key}`);
  if (grant.microcredits !== microcredits) throw grantKeyReused(grant.microcredits / MICROCREDITS_PER_CREDIT);
  if (grant.granted) await recordGrant(tx, author, organizationId, microcredits, key);
  return grant;
}

export function grantKeyReused(credits: number): ServiceError {
  return new ServiceError(
    'IDEMPOTENCY_KEY_REUSED',
    `A grant of ${credits} credits was made with this key: send a new key with each new grant.`,
  );
}

/** Grants an organization the starting credits, unless its creator has had them before. Returns the balance. */
export async function addStartingCredits(
  tx: Tx,
  author: Author,
  { organizationId, userId, credits }: { organizationId: string; userId: string; credits: number },
): Promise<number> {
  if (credits === 0) return 0;
  const microcredits = toMicrocredits(credits);
  const grant = await grantStartingCredits(tx, organizationId, microcredits, userId);
  if (!grant) return 0;
  await recordGrant(tx, { ...author, actor: 'service' }, organizationId, microcredits, 'start');
  return grant.balanceMicrocredits;
}

function recordGrant(tx: Tx, author: Author, organizationId: string, microcredits: number, key: string) {
  return recordChange(tx, author, {
    organizationId,
    action: 'credits.grant',
    resourceId: organizationId,
    details: { credits: microcredits / MICROCREDITS_PER_CREDIT, key },
  });
}

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
  const cancelled = await cancelOfDeleted(tx, author.actor, {
    organizationId,
    projectIds,
    all: false,
  });
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
