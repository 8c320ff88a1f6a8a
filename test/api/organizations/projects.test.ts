import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { insertMember } from '../../../db/tenants/memberships.ts';
import { startApiProcess } from '../../faults/api-process.ts';
import { createOrganization } from '../../organization.ts';
import { waitUntil } from '../../wait-until.ts';
import { code, useManagement } from './management-harness.ts';

describe('projects', () => {
  const { management, call } = useManagement();

  const create = (slug: string, more: object = {}) =>
    call('POST', '/projects', { name: 'P', slug, organization_id: management.acme.organizationId, ...more });

  it('have the documented fields', async () => {
    const { body } = await create('fields', { description: 'd' });
    assert.deepEqual(Object.keys(body).sort(), [
      ...['createdAt', 'description', 'id', 'name', 'organizationId', 'slug', 'updatedAt', 'userId'],
    ]);
    assert.deepEqual(
      [body.organizationId, body.userId],
      [management.acme.organizationId, management.acme.users.owner],
    );
    assert.deepEqual((await call('GET', `/projects/${body.id}`)).body, body);
  });

  it('change only the fields that are sent, and never slug, id or organization', async () => {
    const { body } = await create('changes', { description: 'stays' });
    const changed = await call('PUT', `/projects/${body.id}`, { name: 'New' });
    assert.deepEqual({ ...changed.body, updatedAt: body.updatedAt }, { ...body, name: 'New' });
    const other = await createOrganization(management.weir, management.provider);
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
    const other = await createOrganization(management.weir, management.provider);
    await insertMember(management.weir.db, {
      organizationId: other.organizationId,
      userId: management.acme.users.owner,
      role: 'member',
    });
    const ambiguous = await call('GET', '/projects/by-slug/project');
    assert.deepEqual(code(ambiguous), [409, 'CONFLICT']);
    assert.deepEqual(
      ambiguous.body.detail.organization_ids.sort(),
      [management.acme.organizationId, other.organizationId].sort(),
    );
    const found = await call('GET', `/projects/by-slug/project?organization_id=${other.organizationId}`);
    assert.equal(found.body.id, other.projectId);
    const list = await call('GET', '/projects?limit=1');
    const next = await call('GET', `/projects?cursor=${list.body.nextCursor}`);
    assert.deepEqual(
      [...list.body.projects, ...next.body.projects].map(({ id }: { id: string }) => id).sort(),
      [management.acme.projectId, other.projectId].sort(),
    );
    const one = await call('GET', `/projects?organization_id=${other.organizationId}`);
    assert.equal(one.body.projects.length, 1);
  });

  it('are deleted with their flows: keys stop working, slugs are free, runs stay', async () => {
    const flow = await management.weir.createFlow(management.acme, []);
    const started = await management.weir.call('POST', `${flow}/jobs`, {
      key: management.acme.key,
      body: { message: '' },
    });
    const second = await startApiProcess(management.weir);
    try {
      const poll = (url?: string) =>
        management.weir.call('GET', `${flow}/jobs/${started.body.executionId}`, {
          key: management.acme.key,
          ...(url && { url }),
        });
      assert.deepEqual([(await poll()).status, (await poll(second.url)).status], [200, 200]);
      assert.equal((await call('DELETE', `/projects/${management.acme.projectId}`)).status, 200);
      // The database tells every process; the answer changes as soon as the notification is in.
      for (const url of [undefined, second.url])
        await waitUntil(async () => (await poll(url)).status === 401);
    } finally {
      await second.stop();
    }
    assert.equal((await call('DELETE', `/projects/${management.acme.projectId}`)).status, 404);
    assert.equal((await create('project')).status, 201);
    const { executionId } = started.body;
    const kept = await management.weir.db
      .selectFrom('run')
      .select('status')
      .where('execution_id', '=', executionId)
      .execute();
    assert.equal(kept.length, 1);
    const left = await management.weir.db
      .selectFrom('flow')
      .select('id')
      .where('project_id', '=', management.acme.projectId)
      .where('deleted_at', 'is', null)
      .execute();
    assert.deepEqual(left, []);
  });
});
