import type { MemberRow } from '../../db/tenants/memberships.ts';

/** Describes a member for responses and the `weir` command. */
export function toMember(row: MemberRow) {
  return {
    organizationId: row.organization_id,
    user_id: row.user_id,
    role: row.role,
    name: row.name,
    email: row.email,
    emailVerified: row.email_verified ?? false,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
