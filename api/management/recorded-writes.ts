// Writes that users make over HTTP and operators with the `weir` command. Each records itself in the audit log.

import type { Tx } from '../../db/connect.ts';
import { toMicrocredits } from '../../db/credits/credit-amount.ts';
import {
  type Grant,
  grantCredits,
  grantStartingCredits,
  MICROCREDITS_PER_CREDIT,
} from '../../db/credits/ledger.ts';
import { cancelFromAfar } from '../../db/runs/run-cancellation.ts';
import type { Role } from '../../db/schema.ts';
import { insertApiKey, type NewApiKey, revokeApiKey } from '../../db/tenants/api-keys.ts';
import { type Author, recordChange, recordUserChange } from '../../db/tenants/audit-entries.ts';
import { disconnect } from '../../db/tenants/connected-assistants.ts';
import { deleteInvitationsBy } from '../../db/tenants/invitations.ts';
import { deleteMember, insertMember, type MemberRow, updateRole } from '../../db/tenants/memberships.ts';
import { deleteOrganization, insertOrganization } from '../../db/tenants/organizations.ts';
import { deleteProjects, insertProject, projectNotFound } from '../../db/tenants/projects.ts';
import { requestTestRunCancel } from '../../db/test-runs/test-run-cancellation.ts';
import { type Cancelled, cancelOfDeleted } from '../../db/upkeep/cancel-of-deleted.ts';
import { ServiceError } from '../../flow/errors.ts';

type Named = { name: string; slug: string; description: string };

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
 * Grants credits, once per `key`. Throws NOT_FOUND, VALIDATION_ERROR for an amount that is too large, and
 * IDEMPOTENCY_KEY_REUSED when the key stands for another amount.
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

/** Gives an organization the credits that new ones start with, unless its maker has had them before. Returns its balance. */
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
 * Creates a project, for the user `userId` or, when absent, for an operator. Throws CONFLICT when the slug is taken.
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

type Deletion = { projectIds: string[]; cancelled: Cancelled };

/**
 * Deletes an organization with its projects, and marks what is under way in them as cancelled: call `cancelDeleted`
 * after the transaction. Throws NOT_FOUND.
 */
export async function removeOrganization(tx: Tx, author: Author, organizationId: string): Promise<Deletion> {
  await deleteOrganization(tx, organizationId);
  const projectIds = await deleteProjects(tx, organizationId);
  const cancelled = await cancelOfDeleted(tx, { organizationId, projectIds, all: true });
  const details = { projects: projectIds.length, cancelled };
  await recordChange(tx, author, {
    organizationId,
    action: 'organization.delete',
    resourceId: organizationId,
    details,
  });
  return { projectIds, cancelled };
}

/** Deletes a project in the same way; the caller has locked the organization. Throws NOT_FOUND. */
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

/**
 * Cancels a run on behalf of an operator: a worker hears of it at once. One that has ended stays as it is. Answers whether the
 * run was cancelled by this.
 */
export async function cancelRun(tx: Tx, author: Author, executionId: string): Promise<boolean> {
  const organizationId = await cancelFromAfar(tx, executionId);
  if (organizationId !== undefined)
    await recordChange(tx, author, { organizationId, action: 'run.cancel', resourceId: executionId });
  return organizationId !== undefined;
}

/** Marks a test run and the runs of its cases as cancelled, unless it has ended or was marked. Answers whether this did it. */
export async function markTestRunCancelled(
  tx: Tx,
  author: Author,
  { id, organizationId, flowId }: { id: string; organizationId: string; flowId: string },
): Promise<boolean> {
  if (!(await requestTestRunCancel(tx, id))) return false;
  const details = { flow_id: flowId };
  await recordChange(tx, author, { organizationId, action: 'test_run.cancel', resourceId: id, details });
  return true;
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

/** Revokes an API key; one that was revoked before stays as it is. Throws NOT_FOUND. */
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

/** Adds a member. Throws CONFLICT when the user is one already. */
export async function addMember(tx: Tx, author: Author, member: Parameters<typeof insertMember>[1]) {
  const { organizationId, userId, role } = member;
  await recordChange(tx, author, {
    organizationId,
    action: 'member.add',
    resourceId: userId,
    details: { role },
  });
  return insertMember(tx, member);
}

/**
 * Changes the role of a member whom the caller has locked; one that has the role already stays as it is. Whoever may no longer
 * invite loses the invitations that are open.
 */
export async function changeRole(tx: Tx, author: Author, member: MemberRow, role: Role): Promise<MemberRow> {
  if (member.role === role) return member;
  const { organization_id: organizationId, user_id: userId } = member;
  await recordChange(tx, author, {
    organizationId,
    action: 'member.update',
    resourceId: userId,
    details: { role, ...(role === 'member' && (await revokeInvitationsBy(tx, member))) },
  });
  return updateRole(tx, organizationId, userId, role);
}

/** Removes a member whom the caller has locked, with the invitations by that member. */
export async function removeMember(tx: Tx, author: Author, member: MemberRow): Promise<void> {
  const { organization_id: organizationId, user_id: userId } = member;
  const details = await revokeInvitationsBy(tx, member);
  await recordChange(tx, author, { organizationId, action: 'member.remove', resourceId: userId, details });
  await deleteMember(tx, organizationId, userId);
}

/** Revokes what a member has invited, and answers details for the audit log. */
async function revokeInvitationsBy(
  tx: Tx,
  { organization_id, user_id }: MemberRow,
): Promise<{ revoked_invitations?: number }> {
  const revoked = await deleteInvitationsBy(tx, organization_id, user_id);
  return revoked > 0 ? { revoked_invitations: revoked } : {};
}

/** Disconnects an assistant of a user: its tokens are refused until the user consents again. Throws NOT_FOUND. */
export async function disconnectAssistant(tx: Tx, author: Author, userId: string, id: string) {
  const row = await disconnect(tx, userId, id);
  await recordUserChange(tx, author, {
    userId,
    action: 'assistant.disconnect',
    resourceId: id,
    details: { user_id: userId, client_id: row.client_id, name: row.name },
  });
  return row;
}
