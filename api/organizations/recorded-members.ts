// Writes about members, their invitations and assistants, shared by HTTP and the `weir` command. Each records itself
// in the audit log. The caller has locked the organization.

import type { Tx } from '../../db/connect.ts';
import type { Role } from '../../db/schema.ts';
import { type Author, recordChange } from '../../db/tenants/audit-entries.ts';
import { deleteInvitationsBy } from '../../db/tenants/invitations.ts';
import { deleteMember, insertMember, type MemberRow, updateRole } from '../../db/tenants/memberships.ts';

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
