import type { Role } from '../../db/schema.ts';
import type { UserOrganization } from '../../db/tenants/user-organizations.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';

/** Describes an organization as answers and the `weir` command show it, with the role of the user who asks, if any. */
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
