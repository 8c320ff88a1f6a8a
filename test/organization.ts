// An organization with an owner, an admin and a member, for tests of who may do what.
import { insertMember } from '../db/memberships.ts';
import type { Role } from '../db/schema.ts';
import type { IdentityProvider } from './fakes/identity-provider.ts';
import type { Tenant, Weir } from './harness.ts';

/** `user_id`s; `token` of each. */
export type Organization = Tenant & { users: { [role in Role]: string }; token: { [role in Role]: string } };

export async function createOrganization(weir: Weir, provider: IdentityProvider): Promise<Organization> {
  const tenant = await weir.createTenant();
  const of = (role: Role) => `${role}-of-${tenant.organization}`;
  const users = { owner: of('owner'), admin: of('admin'), member: of('member') };
  const token = { owner: '', admin: '', member: '' };
  for (const role of ['owner', 'admin', 'member'] as const) {
    await insertMember(weir.db, { organizationId: tenant.organizationId, userId: users[role], role });
    token[role] = await provider.token(users[role]);
  }
  return { ...tenant, users, token };
}
