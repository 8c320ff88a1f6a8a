// Invitations that end while, or before, somebody accepts them.
import assert from 'node:assert/strict';
import { deleteOrganization } from '../../../db/tenants/organizations.ts';
import { duringTransaction } from '../../db/during-transaction.ts';
import { useInvitations } from './invitations-harness.ts';
import { code } from './management-harness.ts';

describe('invitations', () => {
  const { management, call, path, addressOf, invite, verified, accept, roleOf, auditOf } = useInvitations();

  it('accepted by two people at once let one of them in', async () => {
    const email = addressOf();
    const { id } = await invite(email);
    const people = [await verified(email), await verified(email)];
    const answers = await Promise.all(people.map(({ key }) => accept(id, key)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404]);
    const roles = await Promise.all(people.map(({ userId }) => roleOf(userId)));
    assert.deepEqual(
      roles.filter((role) => role !== undefined),
      ['member'],
    );
  });

  describe('end when they are revoked', () => {
    it('before they are accepted: whom they were for is refused and no member', async () => {
      const email = addressOf();
      const { id } = await invite(email);
      assert.equal((await call('DELETE', `${path()}/${id}`)).status, 204);
      assert.equal((await call('DELETE', `${path()}/${id}`)).status, 404);
      const { userId, key } = await verified(email);
      assert.deepEqual(code(await accept(id, key)), [404, 'NOT_FOUND']);
      assert.equal(await roleOf(userId), undefined);
    });

    it('at the very moment of accepting', async () => {
      const email = addressOf();
      const { id } = await invite(email);
      const { userId, key } = await verified(email);
      const { organizationId } = management.acme;
      const answer = await duringTransaction(
        management.weir.db,
        async (tx) => {
          await tx
            .selectFrom('organization')
            .select('id')
            .where('id', '=', organizationId)
            .forNoKeyUpdate()
            .execute();
          await tx.deleteFrom('invitation').where('id', '=', id).execute();
        },
        () => accept(id, key),
      );
      assert.deepEqual(code(answer), [404, 'NOT_FOUND']);
      assert.equal(await roleOf(userId), undefined);
    });

    it('or accepted first: of the two at once, exactly one succeeds', async () => {
      const email = addressOf();
      const { id } = await invite(email);
      const { userId, key } = await verified(email);
      const [joined, revoked] = await Promise.all([accept(id, key), call('DELETE', `${path()}/${id}`)]);
      assert.deepEqual(
        [joined.status, revoked.status].sort(),
        joined.status === 200 ? [200, 404] : [204, 404],
      );
      assert.equal(await roleOf(userId), joined.status === 200 ? 'member' : undefined);
    });

    it('with the organization, also at that very moment', async () => {
      const email = addressOf();
      const { id } = await invite(email);
      const { key } = await verified(email);
      const { organizationId } = management.acme;
      const answer = await duringTransaction(
        management.weir.db,
        (tx) => deleteOrganization(tx, organizationId),
        () => accept(id, key),
      );
      assert.deepEqual(code(answer), [404, 'NOT_FOUND']);
      assert.deepEqual((await call('GET', '/me', undefined, key)).body.invitations, []);
    });

    for (const [what, method, body] of [
      ['is removed', 'DELETE', undefined],
      ['becomes a member', 'PUT', { role: 'member' }],
    ] as const)
      it(`when the admin who invited ${what}`, async () => {
        const { acme } = management;
        const email = addressOf();
        const { body: created } = await call('POST', path(), { email, role: 'admin' }, acme.token.admin);
        const kept = await invite(addressOf());
        const admin = `/organizations/${acme.organizationId}/members/${acme.users.admin}`;
        assert.ok((await call(method, admin, body)).status < 300);
        const { key } = await verified(email);
        assert.deepEqual(code(await accept(created.id, key)), [404, 'NOT_FOUND']);
        const { invitations } = (await call('GET', path())).body;
        const ids = invitations.map((one: { id: string }) => one.id);
        assert.deepEqual([ids.includes(created.id), ids.includes(kept.id)], [false, true]);
        assert.equal((await auditOf(acme.users.owner))[0].details.revoked_invitations, 1);
      });
  });
});
