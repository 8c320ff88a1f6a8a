import assert from 'node:assert/strict';
import { useManagement } from './management-harness.ts';

describe('audit log', () => {
  const { management, call } = useManagement();

  const path = () => `/organizations/${management.acme.organizationId}/audit-log`;

  it('lists every write, newest first, with its author and request, page by page', async () => {
    const before = (await call('GET', path())).body.entries.length;
    const writes = [
      await call('PUT', `/organizations/${management.acme.organizationId}`, { name: 'Renamed' }),
      await call('POST', `/organizations/${management.acme.organizationId}/members`, {
        user_id: 'x',
        role: 'member',
      }),
      await call(
        'POST',
        `/projects/${management.acme.projectId}/api-keys`,
        { environment: 'test', name: 'k' },
        management.acme.token.admin,
      ),
      await call('DELETE', `/projects/${management.acme.projectId}`),
    ];
    const seen: { id: string; action: string; actor: string; requestId: string }[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await call('GET', `${path()}?limit=1${cursor ? `&before=${cursor}` : ''}`);
      seen.push(...body.entries);
      cursor = body.nextCursor;
    } while (cursor);
    assert.equal(before, 0);
    assert.equal(new Set(seen.map(({ id }) => id)).size, 4);
    const again: { id: string }[] = (await call('GET', path())).body.entries;
    assert.deepEqual(
      again.map(({ id }) => id),
      seen.map(({ id }) => id),
    );
    assert.deepEqual(
      seen.map(({ action }) => action),
      ['project.delete', 'api_key.create', 'member.add', 'organization.update'],
    );
    assert.deepEqual(
      seen.map(({ requestId }) => requestId),
      writes.map(({ headers }) => headers.get('x-request-id')).reverse(),
    );
    assert.equal(seen[1]?.actor, management.acme.users.admin);
    assert.ok(!JSON.stringify(seen).includes(writes[2]?.body.key));
    // There are no traces.
    assert.ok(!JSON.stringify(seen).includes('traceId'));
  });

  it('names the flow, project, key or member of each entry, while it exists', async () => {
    const { organizationId, projectId, users } = management.acme;
    const key = await call('POST', `/projects/${projectId}/api-keys`, {
      environment: 'test',
      name: 'backend',
    });
    const flow = await call('POST', `/projects/${projectId}/flows`, { name: 'Greet', slug: 'greet' });
    await call('PUT', `/organizations/${organizationId}/members/${users.member}`, { role: 'admin' });
    const { slug: project } = (await call('GET', `/projects/${projectId}`)).body;
    const named = async () => {
      const { entries } = (await call('GET', path())).body;
      return entries.map((entry: Record<string, unknown>) => [
        entry.action,
        entry.resourceName,
        entry.project,
        entry.flow,
      ]);
    };
    const [member, created, minted] = await named();
    assert.deepEqual(created, ['flow.create', 'Greet', project, 'greet']);
    assert.deepEqual(minted, ['api_key.create', 'backend', project, null]);
    assert.deepEqual([member[0], ...member.slice(2)], ['member.update', null, null]);
    assert.equal(key.status, 201);
    await call('DELETE', `/projects/${projectId}/flows/${flow.body.id}`);
    assert.deepEqual((await named())[0], ['flow.delete', null, null, null]);
  });

  it('has one entry when several delete an organization at once, and all but one get 404', async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => call('DELETE', `/organizations/${management.acme.organizationId}`)),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404, 404]);
    const entries = await management.weir.db
      .selectFrom('audit_entry')
      .select('action')
      .where('organization_id', '=', management.acme.organizationId)
      .execute();
    assert.deepEqual(entries, [{ action: 'organization.delete' }]);
  });

  it('has no entry for a refused write', async () => {
    await call(
      'DELETE',
      `/organizations/${management.acme.organizationId}/members/${management.acme.users.owner}`,
    );
    await call('POST', '/projects', {
      name: 'P',
      slug: 'project',
      organization_id: management.acme.organizationId,
    });
    assert.deepEqual((await call('GET', path())).body.entries, []);
  });

  it('has no entry for a write that changes nothing, which leaves updatedAt as it was', async () => {
    const { organizationId, projectId, users } = management.acme;
    const paths = [
      [`/organizations/${organizationId}`, { name: 'Same', description: 'Same' }],
      [`/projects/${projectId}`, { name: 'Same', description: 'Same' }],
      [`/organizations/${organizationId}/members/${users.member}`, { role: 'admin' }],
    ] as const;
    for (const [changed, body] of paths) {
      const { updatedAt } = (await call('PUT', changed, body)).body;
      assert.equal(
        (await call('GET', path())).body.entries.length,
        1 + paths.findIndex(([p]) => p === changed),
      );
      const again = await call('PUT', changed, body);
      assert.deepEqual([again.status, again.body.updatedAt], [200, updatedAt]);
    }
    assert.equal((await call('GET', path())).body.entries.length, paths.length);
    await call('PUT', `/projects/${projectId}`, { name: 'Same', description: 'Other' });
    const [entry] = (await call('GET', path())).body.entries;
    assert.deepEqual(entry.details, { name: 'Same', description: 'Other' });
  });

  it('lists only the entries of an actor, of an action and from a time on', async () => {
    const { organizationId, projectId, token, users } = management.acme;
    await call('PUT', `/organizations/${organizationId}`, { name: 'One' });
    await call('PUT', `/projects/${projectId}`, { name: 'Two' }, token.admin);
    await call('PUT', `/projects/${projectId}`, { name: 'Three' });
    const list = async (query: string) => {
      const { body } = await call('GET', `${path()}?${query}`);
      return body.entries.map(({ details }: { details: { name: string } }) => details.name);
    };
    assert.deepEqual(await list('action=project.update'), ['Three', 'Two']);
    assert.deepEqual(await list(`actor=${users.admin}`), ['Two']);
    assert.deepEqual(await list(`actor=${users.owner}&action=project.update`), ['Three']);
    assert.deepEqual(await list('action=project.update&limit=1'), ['Three']);
    assert.deepEqual(await list('action=no.such'), []);
    assert.deepEqual(await list('since=2020-01-01'), ['Three', 'Two', 'One']);
    assert.deepEqual(await list('since=2999-01-01T00:00:00Z'), []);
    for (const query of ['actor=', 'action=%00', `actor=${'x'.repeat(600)}`, 'since=x'])
      assert.equal((await call('GET', `${path()}?${query}`)).status, 422, query);
  });

  it('accepts any valid time', async () => {
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
