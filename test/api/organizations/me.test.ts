import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { insertMember } from '../../../db/tenants/memberships.ts';
import { insertProject } from '../../../db/tenants/projects.ts';
import { MCP_AUDIENCE } from '../../fakes/identity-provider.ts';
import { useManagement } from './management-harness.ts';

describe('GET /me', () => {
  const { management, call } = useManagement();
  const me = (key?: string) => management.weir.call('GET', '/me', { key });

  it('tells users their organizations by slug with role and projects, and no others', async () => {
    const { weir, acme } = management;
    const userId = acme.users.member;
    const { organizationId, organization, projectId } = acme;
    const { id: second } = await insertProject(weir.db, { organizationId, slug: 'another', name: 'Another' });
    const other = await weir.createTenant();
    await insertMember(weir.db, { organizationId: other.organizationId, userId, role: 'owner' });
    await weir.createTenant();
    const { status, body } = await me(acme.token.member);
    assert.equal(status, 200);
    const [mine, theirs] = [
      {
        ...{ id: organizationId, slug: organization, name: organization, role: 'member' },
        projects: [
          { id: second, slug: 'another', name: 'Another' },
          { id: projectId, slug: 'project', name: 'Project' },
        ],
      },
      {
        ...{ id: other.organizationId, slug: other.organization, name: other.organization, role: 'owner' },
        projects: [{ id: other.projectId, slug: 'project', name: 'Project' }],
      },
    ];
    const organizations = [mine, theirs].sort((a, b) => (a.slug < b.slug ? -1 : 1));
    const person = { name: null, email: null, emailVerified: false, invitations: [] };
    assert.deepEqual(body, {
      kind: 'user',
      userId,
      ...person,
      organizations,
      operator: false,
      hasMore: false,
    });
  });

  it('tells users their name and e-mail address as far as the token does', async () => {
    const table: [Record<string, unknown>, object][] = [
      [
        { name: 'Ann Example', email: 'Ann@example.com', email_verified: true },
        { name: 'Ann Example', email: 'Ann@example.com', emailVerified: true },
      ],
      [
        { email: 'ann@example.com', email_verified: 'true' },
        { email: 'ann@example.com', emailVerified: true },
      ],
      [{ email: 'ann@example.com' }, { email: 'ann@example.com' }],
      [{ email: 'ann@example.com', email_verified: 'yes' }, { email: 'ann@example.com' }],
      [{ email: 'ann@example.com', email_verified: 1 }, { email: 'ann@example.com' }],
      [{ email_verified: true }, {}],
      [{ email: ['ann@example.com'], email_verified: true }, {}],
      [{ name: 'a\0b', email: `${'a'.repeat(250)}@b.de`, email_verified: true }, {}],
    ];
    for (const [claims, expected] of table) {
      const { body } = await me(await management.provider.token(randomUUID(), claims));
      const { name, email, emailVerified, organizations } = body;
      const nothing = { name: null, email: null, emailVerified: false, organizations: [] };
      assert.deepEqual({ name, email, emailVerified, organizations }, { ...nothing, ...expected });
    }
  });

  it('says when an organization or a project is left out', async () => {
    const { weir, provider } = management;
    const userId = randomUUID();
    const organizations = Array.from({ length: 201 }, (_, index) => ({
      slug: `${userId}-${index}`,
      name: 'N',
    }));
    const rows = await weir.db.insertInto('organization').values(organizations).returning('id').execute();
    const join = (ids: string[]) =>
      weir.db
        .insertInto('membership')
        .values(ids.map((id) => ({ organization_id: id, user_id: userId, role: 'member' as const })))
        .execute();
    await join(rows.slice(0, 200).map(({ id }) => id));
    const key = await provider.token(userId);
    const full = (await me(key)).body;
    assert.deepEqual([full.organizations.length, full.hasMore], [200, false]);
    await join([rows[200]?.id ?? '']);
    const more = (await me(key)).body;
    assert.deepEqual([more.organizations.length, more.hasMore], [200, true]);
  });

  it('tells an API key its organization, project and environment', async () => {
    const { acme } = management;
    const { status, body } = await me(acme.key);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      kind: 'api_key',
      keyId: acme.keyId,
      name: 'test',
      environment: 'live',
      scopes: ['run', 'webhooks'],
      expiresAt: null,
      organization: { id: acme.organizationId, slug: acme.organization, name: acme.organization },
      project: { id: acme.projectId, slug: 'project', name: 'Project' },
    });
  });

  it('answers 401 to everybody else, a revoked key and a token for MCP included', async () => {
    const { acme, provider } = management;
    await call('DELETE', `/projects/${acme.projectId}/api-keys/${acme.keyId}`);
    const forMcp = await provider.token(acme.users.owner, { aud: MCP_AUDIENCE });
    for (const key of [undefined, 'x.y.z', forMcp, acme.key]) {
      const { status, body } = await me(key);
      assert.deepEqual([status, body.detail.code], [401, 'UNAUTHENTICATED']);
    }
  });
});
