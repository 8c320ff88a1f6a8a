// An organization with an owner, an admin, a member, its own key for `openai/…`, an invitation and a flow of one version with
// a test case, for tests of who may do what.

import { insertFlow } from '../db/flows/flows.ts';
import { publishVersion } from '../db/flows/versions.ts';
import type { Role } from '../db/schema.ts';
import { insertInvitation } from '../db/tenants/invitations.ts';
import { insertMember } from '../db/tenants/memberships.ts';
import { setModelKey } from '../db/tenants/model-keys.ts';
import { saveTestCase } from '../db/test-runs/test-cases.ts';
import { createEncryption } from '../platform/secrets/encrypt.ts';
import type { IdentityProvider } from './fakes/identity-provider.ts';
import type { Tenant, Weir } from './harness.ts';

/** Each user's `user_id` and `token`, and the ids of the flow and its test case. */
export type Organization = Tenant & {
  users: { [role in Role]: string };
  token: { [role in Role]: string };
  flowId: string;
  testCaseId: string;
  invitationId: string;
};

export async function createOrganization(weir: Weir, provider: IdentityProvider): Promise<Organization> {
  const tenant = await weir.createTenant();
  const of = (role: Role) => `${role}-of-${tenant.organization}`;
  const users = { owner: of('owner'), admin: of('admin'), member: of('member') };
  const token = { owner: '', admin: '', member: '' };
  for (const role of ['owner', 'admin', 'member'] as const) {
    await insertMember(weir.db, { organizationId: tenant.organizationId, userId: users[role], role });
    token[role] = await provider.token(users[role]);
  }
  const encryption = createEncryption(weir.config.secretsKeys);
  const key = {
    organizationId: tenant.organizationId,
    provider: 'openai',
    secret: 'sk-first',
    userId: users.owner,
  };
  await weir.db.transaction().execute((tx) => setModelKey(tx, encryption, key));
  const flow = { projectId: tenant.projectId, slug: 'flow', name: 'Flow' };
  const { id: flowId } = await insertFlow(weir.db, flow);
  await publishVersion(weir.db, flowId, 'The first');
  const { id: testCaseId } = await weir.db.transaction().execute((tx) =>
    saveTestCase(tx, {
      flowId,
      name: 'case',
      input: { message: 'm', parameters: {} },
      expectation: { type: 'equals', value: 'm' },
    }),
  );
  const invitation = { email: 'invited@example.com', role: 'member' as const, invitedBy: users.owner };
  const { id: invitationId } = await weir.db
    .transaction()
    .execute((tx) => insertInvitation(tx, { organizationId: tenant.organizationId, ...invitation }));
  return { ...tenant, users, token, flowId, testCaseId, invitationId };
}
