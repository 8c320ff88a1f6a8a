import assert from 'node:assert/strict';
import {
  findOrganizationBySlug,
  insertOrganization,
  listOrganizations,
} from '../../../db/tenants/organizations.ts';
import { findProjectBySlug, insertProject } from '../../../db/tenants/projects.ts';
import { createProject } from '../project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('organizations and projects', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('are found by slug, and a slug is taken once', async () => {
    const { organization, project } = await createProject(database.db);
    assert.deepEqual(await findOrganizationBySlug(database.db, organization.slug), organization);
    assert.deepEqual(await findProjectBySlug(database.db, organization.id, 'main'), project);
    assert.equal(await findOrganizationBySlug(database.db, 'nobody'), undefined);
    await assert.rejects(insertOrganization(database.db, { slug: organization.slug, name: 'Again' }), {
      code: 'CONFLICT',
    });
    await assert.rejects(
      insertProject(database.db, { organizationId: organization.id, slug: 'main', name: 'Again' }),
      { code: 'CONFLICT' },
    );
  });

  it('are not listed or found once deleted, and the slug is free again', async () => {
    const { organization, project } = await createProject(database.db);
    const deleted = { deleted_at: new Date() };
    await database.db.updateTable('project').set(deleted).where('id', '=', project.id).execute();
    assert.equal(await findProjectBySlug(database.db, organization.id, 'main'), undefined);
    await insertProject(database.db, { organizationId: organization.id, slug: 'main', name: 'New' });
    await database.db.updateTable('organization').set(deleted).where('id', '=', organization.id).execute();
    const [next] = await listOrganizations(database.db, { after: organization.slug.slice(0, -1), limit: 1 });
    assert.notEqual(next?.id, organization.id);
  });
});
