// Writes about members, their invitations and assistants, shared by HTTP and the `weir` command. Each records itself
// in the audit log. The caller has locked the organization.
import type { Tx } from '../../db/connect.ts';
import type { Role } from '../../db/schema.ts';
import { type Author, recordChange, recordUserChange } from '../../db/tenants/audit-entries.ts';
import { disconnect } from '../../db/tenants/connected-assistants.ts';
import {
  deleteInvitation,
  deleteInvitationsBy,
  findInvitationOf,
  type InvitationRow,
  insertInvitation,
} from '../../db/tenants/invitations.ts';
import {
  deleteMember,
  findRole,
  insertMember,
  type MemberRow,
  updateRole,
} from '../../db/tenants/memberships.ts';
import { lockOrganization } from '../../db/tenants/organizations.ts';
import { ServiceError } from '../../flow/errors.ts';

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
 * Changes the role of a member whom the caller has locked; does nothing when the role is the same. A member who may
 * no longer invite loses all open invitations.
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

/** Removes a member whom the caller has locked, with that member's invitations. */
export async function removeMember(tx: Tx, author: Author, member: MemberRow): Promise<void> {
  const { organization_id: organizationId, user_id: userId } = member;
  const details = await revokeInvitationsBy(tx, member);
  await recordChange(tx, author, { organizationId, action: 'member.remove', resourceId: userId, details });
  await deleteMember(tx, organizationId, userId);
}

/** Revokes the invitations by a member, and returns details for the audit log. */
async function revokeInvitationsBy(
  tx: Tx,
  { organization_id, user_id }: MemberRow,
): Promise<{ revoked_invitations?: number }> {
  const revoked = await deleteInvitationsBy(tx, organization_id, user_id);
  return revoked > 0 ? { revoked_invitations: revoked } : {};
}

/** Invites an address. Throws CONFLICT. */
export async function invite(
  tx: Tx,
  author: Author,
  invitation: Parameters<typeof insertInvitation>[1],
): Promise<InvitationRow> {
  const row = await insertInvitation(tx, invitation);
  await recordChange(tx, author, {
    organizationId: row.organization_id,
    action: 'invitation.create',
    resourceId: row.id,
    details: { email: row.email, role: row.role },
  });
  return row;
}

/** Revokes an invitation. Throws NOT_FOUND. */
export async function revokeInvitation(
  tx: Tx,
  author: Author,
  organizationId: string,
  id: string,
): Promise<void> {
  const row = await deleteInvitation(tx, organizationId, id);
  if (!row) throw invitationNotFound();
  const details = { email: row.email };
  await recordChange(tx, author, { organizationId, action: 'invitation.revoke', resourceId: id, details });
}

/**
 * Makes the user with the verified address `email` a member, and deletes the invitation. Throws NOT_FOUND for an
 * invitation that is unknown, revoked, accepted, expired or for another address, and CONFLICT for a member.
 */
export async function acceptInvitation(
  tx: Tx,
  author: Author,
  { id, email, userId }: { id: string; email: string; userId: string },
) {
  const found = await findInvitationOf(tx, email, id);
  if (!found) throw noInvitationFor(email);
  if (found.has_expired) throw invitationExpired(found.expires_at, found.name);
  const { organization_id: organizationId, role, invited_by, slug, name } = found;
  await lockOrganization(tx, organizationId);
  if (await findRole(tx, organizationId, userId)) throw alreadyMemberOf(name);
  // The invitation may be revoked while this transaction waits for the lock.
  if (!(await deleteInvitation(tx, organizationId, id))) throw noInvitationFor(email);
  await insertMember(tx, { organizationId, userId, role });
  await recordChange(tx, author, {
    organizationId,
    action: 'member.add',
    resourceId: userId,
    details: { role, invitation_id: id, email, invited_by },
  });
  return { organization: { id: organizationId, slug, name }, role };
}

export function invitationNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'The organization has no such invitation.');
}

/** Makes the same error for invitations that never existed, have ended, or are for others. */
export function noInvitationFor(email: string): ServiceError {
  return new ServiceError(
    'NOT_FOUND',
    `No such invitation exists for ${email}: it was accepted or revoked, or is for another address. Sign in with the invited address, or ask for a new invitation.`,
  );
}

function invitationExpired(at: Date, organization: string): ServiceError {
  return new ServiceError(
    'NOT_FOUND',
    `The invitation to ${organization} expired on ${at.toISOString().slice(0, 10)}: ask an owner or admin of the organization for a new one.`,
  );
}

export function alreadyMemberOf(organization: string): ServiceError {
  return new ServiceError('CONFLICT', `You are already a member of ${organization}.`);
}

export function addressNotVerified(userId: string): ServiceError {
  return new ServiceError(
    'FORBIDDEN',
    `The identity provider does not say that you have a verified e-mail address: verify it there and sign in again, or ask an owner or admin to add you by your user id, ${userId}.`,
  );
}

/** Disconnects an assistant of a user: its tokens are rejected until the user consents again. Throws NOT_FOUND. */
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
