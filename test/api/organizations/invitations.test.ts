// Invitations by e-mail address: only the person with the verified address joins, and nobody learns who has an account.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { saveMemberProfile } from '../../../db/tenants/memberships.ts';
import { useInvitations } from './invitations-harness.ts';
import { code } from './management-harness.ts';

const UUID = /^[\da-f-]{36}$/;

describe('invitations', () => {
  const { management, call, path, addressOf, invite, person, verified, accept, roleOf, auditOf } =
    useInvitations();

  it('are for 7 days, listed for owners and admins, and come with a text to send', async () => {
    const email = addressOf();
    const { message, ...created } = await invite(email, 'admin');
    const { id, createdAt, expiresAt, ...rest } = created;
    const { organizationId, users } = management.acme;
    assert.deepEqual(rest, { organizationId, email, role: 'admin', state: 'open', invitedBy: users.owner });
    assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 7 * 24 * 3_600_000);
    for (const part of [email, `${management.weir.url}/console/invitations/${id} `])
      assert.ok(message.includes(part), message);
    const { body: organization } = await call('GET', `/organizations/${organizationId}`);
    assert.ok(message.includes(`the organization ${organization.name} of Weir`), message);
    // Whoever is invited has no checkout, and outside of one npx gets a package of somebody else.
    assert.doesNotMatch(message, /npx/);
    const { invitations } = (await call('GET', path(), undefined, management.acme.token.admin)).body;
    assert.deepEqual(
      invitations.filter((one: { id: string }) => one.id === id),
      [created],
    );
    assert.deepEqual((await auditOf(users.owner))[0], {
      action: 'invitation.create',
      resourceId: id,
      details: { email, role: 'admin' },
    });
  });

  it('make the person with the verified address a member, once, in any case of its letters', async () => {
    const email = addressOf();
    const { id } = await invite(email.toUpperCase(), 'admin');
    const { userId, key } = await verified(email.replace('example', 'Example'));
    const inviter = { organization_id: management.acme.organizationId, user_id: management.acme.users.owner };
    await management.weir.db
      .insertInto('member_profile')
      .values({ ...inviter, name: 'Olga', email: null, email_verified: false, told_at: new Date() })
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'user_id']).doUpdateSet({ name: 'Olga' }),
      )
      .execute();
    const { body: me } = await call('GET', '/me', undefined, key);
    const { organizationId, organization, users } = management.acme;
    const acme = { id: organizationId, slug: organization, name: organization };
    const { expiresAt, ...listed } = me.invitations[0];
    const by = { invitedBy: users.owner, inviterName: 'Olga' };
    assert.deepEqual(listed, { id, organization: acme, role: 'admin', ...by });
    assert.equal(await roleOf(userId), undefined);
    const joined = await accept(id, key);
    assert.deepEqual([joined.status, joined.body], [200, { organization: acme, role: 'admin' }]);
    assert.equal(await roleOf(userId), 'admin');
    assert.deepEqual((await call('GET', '/me', undefined, key)).body.invitations, []);
    const details = { role: 'admin', invitation_id: id, email, invited_by: users.owner };
    assert.deepEqual(await auditOf(userId), [{ action: 'member.add', resourceId: userId, details }]);
    const second = await verified(email);
    assert.deepEqual(code(await accept(id, second.key)), [404, 'NOT_FOUND']);
    assert.equal(await roleOf(second.userId), undefined);
  });

  it('let nobody in whose address is not verified, and tell them what to do', async () => {
    const email = addressOf();
    const { id } = await invite(email);
    for (const claims of [{ email }, { email, email_verified: false }, { email, email_verified: 1 }, {}]) {
      const { userId, key } = await person(claims);
      assert.deepEqual((await call('GET', '/me', undefined, key)).body.invitations, []);
      const answer = await accept(id, key);
      assert.deepEqual(code(answer), [403, 'FORBIDDEN']);
      assert.match(answer.body.detail.message, /verify it there and sign in again/);
      assert.ok(answer.body.detail.message.includes(userId));
      assert.equal(await roleOf(userId), undefined);
    }
  });

  it('are for one address: no other that looks alike or becomes it in lower case', async () => {
    const email = `kim-${addressOf()}`;
    const { id } = await invite(email);
    const others = [
      email.replace('k', '\u212a'),
      email.replace('i', '\u0456'),
      email.replace('i', 'i\u0307'),
      `${email}.`,
      ` ${email}`,
      email.replace('@', '+a@'),
      email.replace('example.com', 'example.org'),
      `Kim <${email}>`,
    ];
    for (const other of others) {
      const { userId, key } = await verified(other);
      assert.deepEqual((await call('GET', '/me', undefined, key)).body.invitations, [], other);
      assert.ok([403, 404].includes((await accept(id, key)).status), other);
      assert.equal(await roleOf(userId), undefined, other);
    }
  });

  it('answer a stranger the same as for one that never existed', async () => {
    const { id } = await invite(addressOf());
    const stranger = await verified(addressOf());
    const unknown = await accept(randomUUID(), stranger.key);
    assert.deepEqual(code(unknown), [404, 'NOT_FOUND']);
    for (const other of [id, 'x', '%00'])
      assert.deepEqual((await accept(other, stranger.key)).body, unknown.body, other);
  });

  it('answer 401 without the token of a user', async () => {
    const { id } = await invite(addressOf());
    for (const key of ['x.y.z', management.acme.key])
      assert.deepEqual(code(await accept(id, key)), [401, 'UNAUTHENTICATED']);
  });

  it('look the same for an address that has an account and one that has none', async () => {
    const known = await verified(addressOf());
    const { email } = (await call('GET', '/me', undefined, known.key)).body;
    const answers = [await invite(email), await invite(addressOf())];
    const shapes = answers.map((body) =>
      JSON.stringify(body, (_, value) =>
        typeof value === 'string' && (UUID.test(value) || /[@T:]/.test(value)) ? 'varies' : value,
      ),
    );
    assert.equal(shapes[0], shapes[1]);
    const { invitations } = (await call('GET', path())).body;
    const listed = invitations.find((one: { email: string }) => one.email === email);
    assert.equal(listed.state, 'open');
    assert.equal(await roleOf(known.userId), undefined);
  });

  it('end after 7 days: the person is told, and the address can be invited again', async () => {
    const email = addressOf();
    const { id } = await invite(email);
    await management.weir.db
      .updateTable('invitation')
      .set({ expires_at: new Date(Date.now() - 1_000) })
      .where('id', '=', id)
      .execute();
    const { userId, key } = await verified(email);
    const late = await accept(id, key);
    assert.deepEqual(code(late), [404, 'NOT_FOUND']);
    assert.match(late.body.detail.message, /expired on \d{4}-\d\d-\d\d: ask an owner or admin/);
    assert.equal(await roleOf(userId), undefined);
    const { invitations } = (await call('GET', path())).body;
    assert.equal(invitations.find((one: { id: string }) => one.id === id).state, 'expired');
    const again = await invite(email);
    assert.equal((await accept(again.id, key)).status, 200);
  });

  it('are 409 for an address that is invited already or a member’s', async () => {
    const { acme, weir } = management;
    const email = addressOf();
    await invite(email);
    assert.deepEqual(code(await call('POST', path(), { email, role: 'admin' })), [409, 'CONFLICT']);
    const profile = { name: null, email: 'Mia@example.com', emailVerified: true, issuedAt: new Date() };
    const { organizationId, users } = acme;
    await saveMemberProfile(weir.db, { organizationId, userId: users.member, ...profile });
    const member = await call('POST', path(), { email: 'mia@example.com', role: 'admin' });
    assert.deepEqual(code(member), [409, 'CONFLICT']);
  });

  it('change nothing for somebody who is a member already', async () => {
    const email = addressOf();
    const { id } = await invite(email, 'admin');
    const { acme, provider } = management;
    const key = await provider.token(acme.users.member, { email, email_verified: true });
    assert.deepEqual((await call('GET', '/me', undefined, key)).body.invitations, []);
    assert.deepEqual(code(await accept(id, key)), [409, 'CONFLICT']);
    assert.equal(await roleOf(acme.users.member), 'member');
  });

  it('are at most 100 open ones in an organization', async () => {
    const { weir, acme } = management;
    const row = {
      organization_id: acme.organizationId,
      role: 'member' as const,
      invited_by: acme.users.owner,
    };
    const expires_at = new Date(Date.now() + 60_000);
    const rows = Array.from({ length: 98 }, (_, index) => ({
      ...row,
      email: `p${index}@example.com`,
      expires_at,
    }));
    await weir.db.insertInto('invitation').values(rows).execute();
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => call('POST', path(), { email: addressOf(), role: 'member' })),
    );
    // One more is that of every organization of the tests.
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409]);
    const first = (await call('GET', `${path()}?limit=60`)).body;
    const second = (await call('GET', `${path()}?limit=60&cursor=${first.nextCursor}`)).body;
    assert.deepEqual([first.invitations.length, second.invitations.length, second.hasMore], [60, 40, false]);
  });

  it('are refused for what is not an ASCII address, and for owners', async () => {
    const addresses = [
      '',
      'x',
      'a@b@c',
      'a b@example.com',
      'ä@example.com',
      '\u212a@example.com',
      `${'a'.repeat(250)}@b.de`,
    ];
    for (const email of addresses)
      assert.deepEqual(code(await call('POST', path(), { email, role: 'member' })), [
        422,
        'VALIDATION_ERROR',
      ]);
    assert.equal((await call('POST', path(), { email: addressOf(), role: 'owner' })).status, 422);
  });

  it('of many organizations to one address are listed up to 20, the newest first', async () => {
    const email = addressOf();
    const { weir } = management;
    const tenants = await Promise.all(Array.from({ length: 21 }, () => weir.createTenant()));
    const rows = tenants.map(({ organizationId }, index) => ({
      organization_id: organizationId,
      ...{ email, role: 'member' as const, invited_by: 'somebody' },
      created_at: new Date(Date.now() - index * 1_000),
      expires_at: new Date(Date.now() + 600_000),
    }));
    await weir.db.insertInto('invitation').values(rows).execute();
    const { key } = await verified(email);
    const { invitations } = (await call('GET', '/me', undefined, key)).body;
    assert.deepEqual(
      invitations.map((one: { organization: { id: string } }) => one.organization.id),
      tenants.slice(0, 20).map(({ organizationId }) => organizationId),
    );
  });
});
