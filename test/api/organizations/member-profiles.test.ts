// Names and e-mail addresses of members: in the list of members and in the audit log, for those who act there themselves.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { insertMember, saveMemberProfile } from '../../../db/tenants/memberships.ts';
import { waitUntil } from '../../wait-until.ts';
import { useManagement } from './management-harness.ts';

const ANN = { name: 'Ann Example', email: 'ann@example.com', email_verified: true };

describe('names of members', () => {
  const { management, call } = useManagement();
  const now = () => Math.floor(Date.now() / 1000);
  const membersPath = () => `/organizations/${management.acme.organizationId}/members`;
  const shown = async (userId: string) => {
    const { members } = (await call('GET', membersPath())).body;
    const { name, email, emailVerified } = members.find((one: { user_id: string }) => one.user_id === userId);
    return { name, email, emailVerified };
  };
  const saved = (userId: string, name: string) =>
    waitUntil(async () => {
      const found = await shown(userId);
      return found.name === name && found;
    });

  it('are in the list of members once they have read something in the organization, and not before', async () => {
    const { provider, acme } = management;
    const userId = acme.users.member;
    const nobody = { name: null, email: null, emailVerified: false };
    const key = await provider.token(userId, ANN);
    assert.equal((await call('GET', '/me', undefined, key)).status, 200);
    assert.equal((await call('GET', '/organizations', undefined, key)).status, 200);
    assert.deepEqual(await shown(userId), nobody);
    assert.equal((await call('GET', `/projects/${acme.projectId}`, undefined, key)).status, 200);
    assert.deepEqual(await saved(userId, ANN.name), {
      name: ANN.name,
      email: ANN.email,
      emailVerified: true,
    });
  });

  it('are not shown to another organization that adds the user', async () => {
    const { provider, weir, acme } = management;
    const userId = acme.users.member;
    await call('GET', membersPath(), undefined, await provider.token(userId, ANN));
    await saved(userId, ANN.name);
    const other = await weir.createTenant();
    const hostile = randomUUID();
    await insertMember(weir.db, { organizationId: other.organizationId, userId: hostile, role: 'owner' });
    const added = await call(
      'POST',
      `/organizations/${other.organizationId}/members`,
      { user_id: userId, role: 'member' },
      await provider.token(hostile),
    );
    assert.deepEqual([added.status, added.body.name, added.body.email], [201, null, null]);
  });

  it('follow the newest token; an older one, and one that does not tell, change nothing', async () => {
    const { weir, acme } = management;
    const member = { organizationId: acme.organizationId, userId: acme.users.member };
    const at = (seconds: number) => ({ issuedAt: new Date(seconds * 1000) });
    const ann = { name: 'Ann', email: 'ann@example.com', emailVerified: true };
    await saveMemberProfile(weir.db, { ...member, ...ann, ...at(200) });
    await saveMemberProfile(weir.db, { ...member, ...ann, name: 'Old', ...at(100) });
    assert.deepEqual(await shown(member.userId), ann);
    const silent = { name: null, email: null, emailVerified: false };
    await saveMemberProfile(weir.db, { ...member, ...silent, ...at(300) });
    assert.deepEqual(await shown(member.userId), ann);
    await saveMemberProfile(weir.db, { ...member, ...silent, email: 'new@example.com', ...at(400) });
    assert.deepEqual(await shown(member.userId), {
      name: 'Ann',
      email: 'new@example.com',
      emailVerified: false,
    });
  });

  it('are written once for a token, whatever it is used for', async () => {
    const { provider, weir, acme } = management;
    const key = await provider.token(acme.users.member, { ...ANN, iat: now() - 60 });
    await call('GET', membersPath(), undefined, key);
    await saved(acme.users.member, ANN.name);
    await weir.db
      .updateTable('member_profile')
      .set({ name: 'Untouched', told_at: new Date(0) })
      .execute();
    for (let index = 0; index < 3; index += 1) await call('GET', membersPath(), undefined, key);
    const newer = await provider.token(acme.users.admin, ANN);
    await call('GET', membersPath(), undefined, newer);
    await saved(acme.users.admin, ANN.name);
    assert.equal((await shown(acme.users.member)).name, 'Untouched');
  });

  it('are in the audit log beside the user id, also when the member has left', async () => {
    const { provider, acme } = management;
    const key = await provider.token(acme.users.admin, ANN);
    await call('PUT', `/organizations/${acme.organizationId}`, { name: 'Renamed' }, key);
    await saved(acme.users.admin, ANN.name);
    await call('DELETE', `${membersPath()}/${acme.users.admin}`);
    const { entries } = (await call('GET', `/organizations/${acme.organizationId}/audit-log`)).body;
    assert.deepEqual(
      entries.map((entry: { [field: string]: string }) => [
        entry.action,
        entry.actor,
        entry.actorName,
        entry.actorEmail,
      ]),
      [
        ['member.remove', acme.users.owner, null, null],
        ['organization.update', acme.users.admin, ANN.name, ANN.email],
      ],
    );
  });
});
