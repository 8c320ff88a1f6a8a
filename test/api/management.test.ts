// What the management API does, beyond who may (roles.test.ts).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ACTIVE_API_KEYS_MAX } from '../../db/api-keys.ts';
import { insertMember } from '../../db/memberships.ts';
import { type IdentityProvider, startIdentityProvider } from '../fakes/identity-provider.ts';
import { startApiProcess } from '../faults/api-process.ts';
import { startWeir, type Weir } from '../harness.ts';
import { createOrganization, type Organization } from '../organization.ts';

describe('management', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let acme: Organization;
  let owner: string;
  before(async () => {
    provider = await startIdentityProvider();
    weir = await startWeir({ env: provider.env, worker: false });
  });
  beforeEach(async () => {
    acme = await createOrganization(weir, provider);
    owner = acme.token.owner;
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });

  const call = (method: string, path: string, body?: unknown, key = owner) =>
    weir.call(method, path, { key, body });
  const code = (answer: { status: number; body: { detail?: { code: string } } }) => [
    answer.status,
    answer.body?.detail?.code,
  ];

  describe('organizations', () => {
    it('make their creator the owner, and are found by id, slug and in the creator’s list', async () => {
      const key = await provider.token(randomUUID());
      const slug = `new-${randomUUID()}`;
      const { status, body } = await call(
        'POST',
        '/organizations',
        { name: 'New', slug, description: 'd' },
        key,
      );
      assert.deepEqual(
        [status, body.slug, body.name, body.description, body.role],
        [201, slug, 'New', 'd', 'owner'],
      );
      for (const path of [body.id, `by-slug/${slug}`])
        assert.deepEqual((await call('GET', `/organizations/${path}`, undefined, key)).body, body);
      const list = await call('GET', '/organizations', undefined, key);
      assert.deepEqual(list.body, { organizations: [body], hasMore: false, nextCursor: null });
    });

    it('answer 409 for a slug that is taken, and free it when deleted', async () => {
      const again = { name: 'Again', slug: acme.organization };
      assert.deepEqual(code(await call('POST', '/organizations', again)), [409, 'CONFLICT']);
      assert.equal((await call('DELETE', `/organizations/${acme.organizationId}`)).status, 204);
      assert.equal((await call('POST', '/organizations', again)).status, 201);
      assert.equal((await call('GET', `/organizations/${acme.organizationId}`)).status, 404);
      assert.equal((await call('GET', `/projects/${acme.projectId}`)).status, 404);
    });

    it('are listed page by page', async () => {
      const key = await provider.token('pages');
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
    const path = () => `/organizations/${acme.organizationId}/members`;

    it('carry user_id and role, also of users who never signed in', async () => {
      const added = await call('POST', path(), { user_id: 'auth0|x/y z', role: 'member' });
      assert.deepEqual([added.status, added.body.user_id, added.body.role], [201, 'auth0|x/y z', 'member']);
      const one = `${path()}/${encodeURIComponent('auth0|x/y z')}`;
      assert.equal((await call('PUT', one, { role: 'admin' })).body.role, 'admin');
      assert.equal((await call('DELETE', one)).status, 204);
      assert.equal((await call('DELETE', one)).status, 404);
      const { body } = await call('GET', path());
      assert.deepEqual(
        body.members.map(({ user_id }: { user_id: string }) => user_id).sort(),
        Object.values(acme.users).sort(),
      );
    });

    it('are added once, and never as owners', async () => {
      const again = await call('POST', path(), { user_id: acme.users.member, role: 'admin' });
      assert.deepEqual(code(again), [409, 'CONFLICT']);
      for (const role of ['owner', 'root'])
        assert.equal((await call('POST', path(), { user_id: 'x', role })).status, 422);
      assert.equal((await call('PUT', `${path()}/${acme.users.member}`, { role: 'owner' })).status, 422);
    });

    it('never lose their last owner, also when two leave at once', async () => {
      const mine = `${path()}/${acme.users.owner}`;
      assert.deepEqual(code(await call('DELETE', mine)), [409, 'CONFLICT']);
      assert.deepEqual(code(await call('PUT', mine, { role: 'member' })), [409, 'CONFLICT']);
      const second = { organizationId: acme.organizationId, userId: 'second', role: 'owner' as const };
      await insertMember(weir.db, second);
      const key = await provider.token('second');
      const answers = await Promise.all([
        call('DELETE', mine),
        call('PUT', `${path()}/second`, { role: 'admin' }, key),
      ]);
      assert.equal(answers.filter(({ status }) => status < 300).length, 1);
      assert.equal(answers.filter(({ status }) => status === 409).length, 1);
    });

    it('have no user_id that no path can name, which nobody could remove', async () => {
      for (const user_id of ['.', '..'])
        assert.deepEqual(code(await call('POST', path(), { user_id, role: 'member' })), [
          422,
          'VALIDATION_ERROR',
        ]);
      assert.equal((await call('POST', path(), { user_id: '...', role: 'member' })).status, 201);
    });

    it('do not let an admin change an owner', async () => {
      const mine = `${path()}/${acme.users.owner}`;
      assert.equal((await call('DELETE', mine, undefined, acme.token.admin)).status, 403);
      assert.equal((await call('PUT', mine, { role: 'member' }, acme.token.admin)).status, 403);
    });

    it('can do nothing more the moment they are demoted or removed', async () => {
      await call('PUT', `${path()}/${acme.users.admin}`, { role: 'member' });
      assert.equal(
        (await call('POST', path(), { user_id: 'x', role: 'member' }, acme.token.admin)).status,
        403,
      );
      await call('DELETE', `${path()}/${acme.users.admin}`);
      assert.equal((await call('GET', path(), undefined, acme.token.admin)).status, 404);
    });
  });

  describe('projects', () => {
    const create = (slug: string, more: object = {}) =>
      call('POST', '/projects', { name: 'P', slug, organization_id: acme.organizationId, ...more });

    it('have the fields of the interface', async () => {
      const { body } = await create('fields', { description: 'd' });
      assert.deepEqual(Object.keys(body).sort(), [
        ...['createdAt', 'description', 'id', 'name', 'organizationId', 'slug', 'updatedAt', 'userId'],
      ]);
      assert.deepEqual([body.organizationId, body.userId], [acme.organizationId, acme.users.owner]);
      assert.deepEqual((await call('GET', `/projects/${body.id}`)).body, body);
    });

    it('change what is sent and nothing else; their slug, id and organization never', async () => {
      const { body } = await create('changes', { description: 'stays' });
      const changed = await call('PUT', `/projects/${body.id}`, { name: 'New' });
      assert.deepEqual({ ...changed.body, updatedAt: body.updatedAt }, { ...body, name: 'New' });
      const other = await createOrganization(weir, provider);
      for (const fields of [
        {},
        { slug: 'moved' },
        { organization_id: other.organizationId, name: 'x' },
        { organizationId: other.organizationId },
        { id: randomUUID() },
        { user_id: 'x' },
        { deleted_at: null },
      ])
        assert.equal((await call('PUT', `/projects/${body.id}`, fields)).status, 422, JSON.stringify(fields));
    });

    it('have slugs that are unique within their organization only', async () => {
      assert.deepEqual(code(await create('project')), [409, 'CONFLICT']);
      const other = await createOrganization(weir, provider);
      await insertMember(weir.db, {
        organizationId: other.organizationId,
        userId: acme.users.owner,
        role: 'member',
      });
      const ambiguous = await call('GET', '/projects/by-slug/project');
      assert.deepEqual(code(ambiguous), [409, 'CONFLICT']);
      assert.deepEqual(
        ambiguous.body.detail.organization_ids.sort(),
        [acme.organizationId, other.organizationId].sort(),
      );
      const found = await call('GET', `/projects/by-slug/project?organization_id=${other.organizationId}`);
      assert.equal(found.body.id, other.projectId);
      const list = await call('GET', '/projects?limit=1');
      const next = await call('GET', `/projects?cursor=${list.body.nextCursor}`);
      assert.deepEqual(
        [...list.body.projects, ...next.body.projects].map(({ id }: { id: string }) => id).sort(),
        [acme.projectId, other.projectId].sort(),
      );
      const one = await call('GET', `/projects?organization_id=${other.organizationId}`);
      assert.equal(one.body.projects.length, 1);
    });

    it('are deleted softly with their flows: keys are dead, slugs free, runs kept', async () => {
      const flow = await weir.createFlow(acme, []);
      const started = await weir.call('POST', `${flow}/jobs`, { key: acme.key, body: { message: '' } });
      const second = await startApiProcess(weir);
      try {
        const poll = (url?: string) =>
          weir.call('GET', `${flow}/jobs/${started.body.executionId}`, {
            key: acme.key,
            ...(url && { url }),
          });
        assert.deepEqual([(await poll()).status, (await poll(second.url)).status], [200, 200]);
        assert.equal((await call('DELETE', `/projects/${acme.projectId}`)).status, 204);
        // The database tells every process; the answer changes as soon as the notification is in.
        for (const url of [undefined, second.url]) while ((await poll(url)).status !== 401);
      } finally {
        await second.stop();
      }
      assert.equal((await call('DELETE', `/projects/${acme.projectId}`)).status, 404);
      assert.equal((await create('project')).status, 201);
      const { executionId } = started.body;
      const kept = await weir.db
        .selectFrom('run')
        .select('status')
        .where('execution_id', '=', executionId)
        .execute();
      assert.equal(kept.length, 1);
      const left = await weir.db
        .selectFrom('flow')
        .select('id')
        .where('project_id', '=', acme.projectId)
        .where('deleted_at', 'is', null)
        .execute();
      assert.deepEqual(left, []);
    });
  });

  describe('API keys', () => {
    const path = () => `/projects/${acme.projectId}/api-keys`;
    const create = (more: object = {}) => call('POST', path(), { environment: 'live', name: 'k', ...more });

    it('are shown in full once, work, say when they were used, and stop working when revoked', async () => {
      const flow = await weir.createFlow(acme, []);
      const { status, body } = await create();
      assert.equal(status, 201);
      assert.match(body.key, new RegExp(`^weir_live_${body.keyId}_`));
      const use = () => weir.call('POST', `${flow}/jobs`, { key: body.key, body: { message: '' } });
      assert.equal((await use()).status, 202);
      const find = async () => {
        const list = await call('GET', path());
        assert.ok(!JSON.stringify(list.body).includes(body.key.split('_')[3]));
        return list.body.apiKeys.find(({ keyId }: { keyId: string }) => keyId === body.keyId);
      };
      while ((await find()).lastUsedAt === null);
      assert.deepEqual([(await find()).createdBy, (await find()).state], [acme.users.owner, 'active']);
      assert.equal((await call('DELETE', `${path()}/%00${body.keyId}`)).status, 404);
      const revoked = await call('DELETE', `${path()}/${body.keyId}`);
      assert.deepEqual([revoked.status, revoked.body.state], [200, 'revoked']);
      while ((await use()).status !== 401);
      assert.deepEqual((await call('DELETE', `${path()}/${body.keyId}`)).body, revoked.body);
    });

    it(`are ${ACTIVE_API_KEYS_MAX} active at most; expired and revoked ones do not count`, async () => {
      const made = await Promise.all(Array.from({ length: ACTIVE_API_KEYS_MAX + 3 }, () => create()));
      assert.equal(made.filter(({ status }) => status === 201).length, ACTIVE_API_KEYS_MAX - 1);
      assert.deepEqual(code(await create()), [409, 'CONFLICT']);
      const { keyId } = made.find(({ status }) => status === 201)?.body ?? {};
      await call('DELETE', `${path()}/${keyId}`);
      assert.equal((await create()).status, 201);
    });

    for (const [what, fields] of Object.entries({
      'an environment that is none': { environment: 'prod' },
      'an expiry in the past': { expires_at: '2020-01-01T00:00:00Z' },
      'an expiry that is no time': { expires_at: 'tomorrow' },
      'an expiry that only its offset puts after the year 9999': { expires_at: '9999-12-31T23:59:59-12:00' },
      'a key of its own choice': { key_id: 'AAAAAAAA' },
      'another project': { project_id: randomUUID() },
      'a creator': { created_by: 'x' },
    }))
      it(`refuse ${what} with 422`, async () => {
        assert.deepEqual(code(await create(fields)), [422, 'VALIDATION_ERROR']);
      });
  });

  describe('audit log', () => {
    const path = () => `/organizations/${acme.organizationId}/audit-log`;

    it('has every write, newest first, with who did it in which request, page by page', async () => {
      const before = (await call('GET', path())).body.entries.length;
      const writes = [
        await call('PUT', `/organizations/${acme.organizationId}`, { name: 'Renamed' }),
        await call('POST', `/organizations/${acme.organizationId}/members`, { user_id: 'x', role: 'member' }),
        await call(
          'POST',
          `/projects/${acme.projectId}/api-keys`,
          { environment: 'test', name: 'k' },
          acme.token.admin,
        ),
        await call('DELETE', `/projects/${acme.projectId}`),
      ];
      const seen: { action: string; actor: string; requestId: string }[] = [];
      let cursor: string | null = null;
      do {
        const { body } = await call('GET', `${path()}?limit=1${cursor ? `&before=${cursor}` : ''}`);
        seen.push(...body.entries);
        cursor = body.nextCursor;
      } while (cursor);
      assert.equal(before, 0);
      assert.deepEqual(
        seen.map(({ action }) => action),
        ['project.delete', 'api_key.create', 'member.add', 'organization.update'],
      );
      assert.deepEqual(
        seen.map(({ requestId }) => requestId),
        writes.map(({ headers }) => headers.get('x-request-id')).reverse(),
      );
      assert.equal(seen[1]?.actor, acme.users.admin);
      assert.ok(!JSON.stringify(seen).includes(writes[2]?.body.key));
    });

    it('has one entry of an organization that several delete at once, and 404 for all but one', async () => {
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => call('DELETE', `/organizations/${acme.organizationId}`)),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 404, 404, 404]);
      const entries = await weir.db
        .selectFrom('audit_entry')
        .select('action')
        .where('organization_id', '=', acme.organizationId)
        .execute();
      assert.deepEqual(entries, [{ action: 'organization.delete' }]);
    });

    it('has nothing of what was refused', async () => {
      await call('DELETE', `/organizations/${acme.organizationId}/members/${acme.users.owner}`);
      await call('POST', '/projects', { name: 'P', slug: 'project', organization_id: acme.organizationId });
      assert.deepEqual((await call('GET', path())).body.entries, []);
    });

    it('takes any time there is', async () => {
      for (const before of [
        '0000-01-01T00:00:00Z',
        '9999-12-31T23:59:59.999999999Z',
        '2026-01-01T00:00:00%2B02:00',
      ])
        assert.equal((await call('GET', `${path()}?before=${before}`)).status, 200, before);
      for (const query of ['before=x', 'limit=0', 'limit=201', 'limit=1e1', 'other=1', 'limit=1&limit=2'])
        assert.equal((await call('GET', `${path()}?${query}`)).status, 422, query);
    });
  });
});
