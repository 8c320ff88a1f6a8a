// Writes that meet the end of what allows them: whoever is told that something was done can go on with it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Tx } from '../../../db/connect.ts';
import { revokeApiKey } from '../../../db/tenants/api-keys.ts';
import { lockMember, updateRole } from '../../../db/tenants/memberships.ts';
import { lockOrganization } from '../../../db/tenants/organizations.ts';
import { insertTestDelivery } from '../../../db/webhooks/open-deliveries.ts';
import { duringTransaction } from '../../db/during-transaction.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { deleteAll, deleteProject } from './deletion-harness.ts';
import { MANAGEMENT, O, P, parameters, sendTo, slugOf } from './management-routes.ts';

const HOST = 'hook.test';
const WEBHOOKS: { [route: string]: unknown } = {
  [`get ${O}/:org_id/webhooks/secret`]: undefined,
  [`post ${O}/:org_id/webhooks/secret/rotate`]: undefined,
  [`post ${O}/:org_id/webhooks/deliveries/:deliveryId/redeliver`]: undefined,
  [`post ${O}/:org_id/webhooks/recover`]: { since: '2026-01-31T12:00:00Z' },
  [`post ${O}/:org_id/webhooks/test`]: { url: `https://${HOST}/`, event: 'flow.completed' },
};
/** The requests with which owners write under an organization. */
const MANAGED = Object.entries(MANAGEMENT)
  .filter(([route, { owner }]) => owner < 300 && !/^get | \/api\/v1\/organizations$/.test(route))
  .map(([route]) => route);
const FOR_ADMINS = MANAGED.filter((route) => MANAGEMENT[route]?.member === 403);

async function demote(tx: Tx, { organizationId, users }: Organization): Promise<void> {
  await lockMember(tx, organizationId, users.owner);
  await updateRole(tx, organizationId, users.owner, 'member');
}

const MOMENTS: { [moment: string]: [number, typeof demote, string[]] } = {
  'its organization is deleted': [404, deleteAll, [...MANAGED, ...Object.keys(WEBHOOKS)]],
  'its project is deleted': [404, deleteProject, MANAGED.filter((route) => route.includes(`${P}/:`))],
  'its caller becomes a member': [403, demote, [...FOR_ADMINS, `post ${O}/:org_id/webhooks/secret/rotate`]],
};

describe('a write of the management API', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  before(async () => {
    provider = await startIdentityProvider();
    const env = { ...provider.env, WEIR_TEST_DIAL_MAP: JSON.stringify({ [HOST]: '127.0.0.1:1' }) };
    weir = await startWeir({ env, worker: false });
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });

  const send = (route: string, about: Organization, deliveryId: string) => {
    const body = MANAGEMENT[route]?.body?.(about) ?? WEBHOOKS[route];
    return sendTo(weir, route, { ...slugOf(route, about), deliveryId }, about.token.owner, body);
  };
  const actions = async ({ organizationId }: Organization) => {
    const entries = await weir.db
      .selectFrom('audit_entry')
      .select('action')
      .where('organization_id', '=', organizationId)
      .execute();
    return entries.map(({ action }) => action);
  };

  for (const [moment, [status, change, routes]] of Object.entries(MOMENTS))
    describe(`at the very moment when ${moment}`, () => {
      for (const route of routes)
        it(`is ${status} and no entry in the audit log: ${route}`, async () => {
          const about = await createOrganization(weir, provider);
          const id = randomUUID();
          const { organizationId } = about;
          const delivery = { id, organizationId, event: 'flow.failed' as const, url: `https://${HOST}/` };
          await insertTestDelivery(weir.db, { ...delivery, body: '{}' });
          const answer = await duringTransaction(
            weir.db,
            (tx) => change(tx, about),
            () => send(route, about, id),
          );
          assert.equal(answer.status, status, JSON.stringify(answer.body));
          assert.deepEqual(await actions(about), []);
        });
    });

  // A run of a draft is let in by `admit`, as that of a version is.
  for (const route of MANAGED.filter((route) => MANAGEMENT[route]?.keys?.includes('deploy')))
    if (!route.endsWith('/draft/runs'))
      it(`is 401 at the very moment when its API key is revoked, and no entry in the audit log: ${route}`, async () => {
        const about = await createOrganization(weir, provider);
        const { key, keyId } = await createScopedKey(weir, about.projectId, 'deploy');
        const revoke = async (tx: Tx) => {
          await lockOrganization(tx, about.organizationId);
          await revokeApiKey(tx, about.projectId, keyId);
        };
        const body = MANAGEMENT[route]?.body?.(about);
        const answer = await duringTransaction(weir.db, revoke, () =>
          sendTo(weir, route, parameters(about), key, body),
        );
        assert.equal(answer.status, 401, JSON.stringify(answer.body));
        assert.deepEqual(await actions(about), []);
      });

  it('goes by the caller’s role at that moment: an owner who has become an admin cannot remove an owner', async () => {
    const about = await createOrganization(weir, provider);
    const { organizationId, users } = about;
    await weir.db
      .updateTable('membership')
      .set({ role: 'owner' })
      .where('organization_id', '=', organizationId)
      .execute();
    const answer = await duringTransaction(
      weir.db,
      async (tx) => {
        await lockMember(tx, organizationId, users.owner);
        await updateRole(tx, organizationId, users.owner, 'admin');
      },
      () => send(`delete ${O}/:org_id/members/:member_user_id`, about, ''),
    );
    assert.equal(answer.status, 403, JSON.stringify(answer.body));
  });
});
