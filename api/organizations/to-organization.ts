import type { Role } from '../../db/schema.ts';
import type { UserOrganization } from '../../db/tenants/user-organizations.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';

/** Describes an organization for responses and the `weir` command, with the caller's role, if any. */
export function toOrganization(row: Omit<UserOrganization, 'role'> & { role?: Role }) {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    ...(row.role && { role: row.role }),
    credits: row.balance_microcredits / MICROCREDITS_PER_CREDIT,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
