import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { insertMember, ORGANIZATIONS_OWNED_MAX } from '../../../db/tenants/memberships.ts';
import { code, useManagement } from './management-harness.ts';

describe('management', () => {
  const { management, call } = useManagement();

  describe('organizations', () => {
    it('make their creator the owner, and are found by id, slug and in the creator’s list', async () => {
      const key = await management.provider.token(randomUUID());
      const slug = `new-${randomUUID()}`;
      const { status, body } = await call(
        'POST',
        '/organizations',
        { name: 'New', slug, description: 'd' },
        key,
      );
      assert.deepEqual(
        [status, body.slug, body.name, body.description, body.role, body.credits],
        [201, slug, 'New', 'd', 'owner', 0],
      );
      for (const path of [body.id, `by-slug/${slug}`])
        assert.deepEqual((await call('GET', `/organizations/${path}`, undefined, key)).body, body);
      const list = await call('GET', '/organizations', undefined, key);
      assert.deepEqual(list.body, { organizations: [body], hasMore: false, nextCursor: null });
    });

    it('answer 409 for a slug that is taken, and free it when deleted', async () => {
      const again = { name: 'Again', slug: management.acme.organization };
      assert.deepEqual(code(await call('POST', '/organizations', again)), [409, 'CONFLICT']);
      assert.equal((await call('DELETE', `/organizations/${management.acme.organizationId}`)).status, 200);
      assert.equal((await call('POST', '/organizations', again)).status, 201);
      assert.equal((await call('GET', `/organizations/${management.acme.organizationId}`)).status, 404);
      assert.equal((await call('GET', `/projects/${management.acme.projectId}`)).status, 404);
    });

    it('can be made by who owns few, and by others once they have deleted one', async () => {
      const userId = randomUUID();
      const key = await management.provider.token(userId);
      const named = () => ({ name: 'One more', slug: `more-${randomUUID()}` });
      const first = await call('POST', '/organizations', named(), key);
      const { db } = management.weir;
      const owned = await db
        .insertInto('organization')
        .values(Array.from({ length: ORGANIZATIONS_OWNED_MAX - 1 }, named))
        .returning('id')
        .execute();
      const members = owned.map(({ id }) => ({
        organization_id: id,
        user_id: userId,
        role: 'owner' as const,
      }));
      await db.insertInto('membership').values(members).execute();
      const refused = named();
      assert.deepEqual(code(await call('POST', '/organizations', refused, key)), [409, 'CONFLICT']);
      await call('DELETE', `/organizations/${first.body.id}`, undefined, key);
      assert.equal((await call('POST', '/organizations', refused, key)).status, 201);
    });

    it('are listed page by page', async () => {
      const key = await management.provider.token('pages');
      const slugs = Array.from({ length: 5 }, (_, index) => `page-${index}-${randomUUID().slice(0, 8)}`);
      for (const slug of slugs) await call('POST', '/organizations', { name: slug, slug }, key);
      const seen: string[] = [];
      let cursor = '';
      do {
        const { body } = await call(
          'GET',
          `/organizations?limit=2${cursor && `&cursor=${cursor}`}`,
          undefined,
          key,
        );
        seen.push(...body.organizations.map(({ slug }: { slug: string }) => slug));
        cursor = body.nextCursor ?? '';
      } while (cursor);
      assert.deepEqual(seen, slugs);
    });

    for (const [what, fields] of Object.entries({
      'a slug with capitals': { slug: 'Acme' },
      'a slug with a double hyphen': { slug: 'a--b' },
      'a slug with a slash': { slug: 'a/b' },
      'a long slug': { slug: 'a'.repeat(65) },
      'no name': { name: undefined },
      'an empty name': { name: '' },
      'a name with U+0000': { name: 'a\0b' },
      'an id': { id: randomUUID() },
      'a balance': { balance_microcredits: 1_000_000 },
      'a role': { role: 'owner' },
      'a time of creation': { createdAt: '2020-01-01T00:00:00Z' },
    }))
      it(`refuse ${what} with 422`, async () => {
        const answer = await call('POST', '/organizations', { name: 'N', slug: randomUUID(), ...fields });
        assert.deepEqual(code(answer), [422, 'VALIDATION_ERROR']);
        assert.equal(answer.body.detail.errors[0].field, Object.keys(fields)[0]);
      });
  });

  describe('members', () => {
    const path = () => `/organizations/${management.acme.organizationId}/members`;

    it('have a user_id and a role, also for users who never signed in', async () => {
      const added = await call('POST', path(), { user_id: 'auth0|x/y z', role: 'member' });
      assert.deepEqual([added.status, added.body.user_id, added.body.role], [201, 'auth0|x/y z', 'member']);
      const one = `${path()}/${encodeURIComponent('auth0|x/y z')}`;
      assert.equal((await call('PUT', one, { role: 'admin' })).body.role, 'admin');
      assert.equal((await call('DELETE', one)).status, 204);
      assert.equal((await call('DELETE', one)).status, 404);
      const { body } = await call('GET', path());
      assert.deepEqual(
        body.members.map(({ user_id }: { user_id: string }) => user_id).sort(),
        Object.values(management.acme.users).sort(),
      );
    });

    it('are added once, and never as owners: an owner makes them one later', async () => {
      const again = await call('POST', path(), { user_id: management.acme.users.member, role: 'admin' });
      assert.deepEqual(code(again), [409, 'CONFLICT']);
      for (const role of ['owner', 'root'])
        assert.equal((await call('POST', path(), { user_id: 'x', role })).status, 422);
      const one = `${path()}/${management.acme.users.member}`;
      const byAdmin = await call('PUT', one, { role: 'owner' }, management.acme.token.admin);
      assert.deepEqual(code(byAdmin), [403, 'FORBIDDEN']);
      assert.equal((await call('PUT', one, { role: 'owner' })).body.role, 'owner');
    });

    it('take over from the last owner, who then leaves', async () => {
      const [mine, next] = [management.acme.users.owner, management.acme.users.admin];
      const alone = await call('DELETE', `${path()}/${mine}`);
      assert.deepEqual(code(alone), [409, 'CONFLICT']);
      assert.match(alone.body.detail.message, /the only owner.* make another member an owner first/);
      assert.equal((await call('PUT', `${path()}/${mine}`, { role: 'owner' })).status, 200);
      assert.equal((await call('PUT', `${path()}/${next}`, { role: 'owner' })).status, 200);
      assert.equal((await call('DELETE', `${path()}/${mine}`)).status, 204);
      assert.equal((await call('GET', path())).status, 404);
      assert.equal((await call('GET', path(), undefined, management.acme.token.admin)).status, 200);
    });

    it('leave on their own, and remove no other', async () => {
      const { member, admin } = management.acme.users;
      const token = management.acme.token.member;
      assert.equal((await call('DELETE', `${path()}/${admin}`, undefined, token)).status, 403);
      assert.equal((await call('DELETE', `${path()}/${member}`, undefined, token)).status, 204);
      assert.equal((await call('GET', path(), undefined, token)).status, 404);
    });

    it('always keep an owner, also when two owners leave at once', async () => {
      const mine = `${path()}/${management.acme.users.owner}`;
      assert.deepEqual(code(await call('DELETE', mine)), [409, 'CONFLICT']);
      assert.deepEqual(code(await call('PUT', mine, { role: 'member' })), [409, 'CONFLICT']);
      const second = {
        organizationId: management.acme.organizationId,
        userId: 'second',
        role: 'owner' as const,
      };
      await insertMember(management.weir.db, second);
      const key = await management.provider.token('second');
      const answers = await Promise.all([
        call('DELETE', mine),
        call('PUT', `${path()}/second`, { role: 'admin' }, key),
      ]);
      assert.equal(answers.filter(({ status }) => status < 300).length, 1);
      assert.equal(answers.filter(({ status }) => status === 409).length, 1);
    });

    it('cannot have a user_id that no URL path can name, or that the audit log has for those who are not users', async () => {
      for (const user_id of ['.', '..', 'operator', 'service', 'api_key/abcdef', 'operator/abcdef'])
        assert.deepEqual(code(await call('POST', path(), { user_id, role: 'member' })), [
          422,
          'VALIDATION_ERROR',
        ]);
      assert.equal((await call('POST', path(), { user_id: '...', role: 'member' })).status, 201);
    });

    it('do not let an admin change an owner', async () => {
      const mine = `${path()}/${management.acme.users.owner}`;
      assert.equal((await call('DELETE', mine, undefined, management.acme.token.admin)).status, 403);
      assert.equal((await call('PUT', mine, { role: 'member' }, management.acme.token.admin)).status, 403);
    });

    it('lose their rights the moment they are demoted or removed', async () => {
      await call('PUT', `${path()}/${management.acme.users.admin}`, { role: 'member' });
      assert.equal(
        (await call('POST', path(), { user_id: 'x', role: 'member' }, management.acme.token.admin)).status,
        403,
      );
      await call('DELETE', `${path()}/${management.acme.users.admin}`);
      assert.equal((await call('GET', path(), undefined, management.acme.token.admin)).status, 404);
    });
  });
});
