import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { FLOWS_MAX, insertFlow } from '../../../db/flows/flows.ts';
import { insertProject, PROJECTS_MAX } from '../../../db/tenants/projects.ts';
import { createProject } from '../project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('an organization', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const conflict = { code: 'CONFLICT', message: /can have at most/ };

  it('has a bounded number of flows in all its projects together, deleted ones aside', async () => {
    const { db } = database;
    const { organization, project } = await createProject(db);
    const second = await insertProject(db, { organizationId: organization.id, slug: 'two', name: 'Two' });
    await sql`insert into flow (project_id, slug, name, description, draft)
      select ${project.id}::uuid, 'made-' || n, 'Made', '', '{"steps":[]}'
      from generate_series(2, ${FLOWS_MAX}) as n`.execute(db);
    const { id } = await insertFlow(db, { projectId: second.id, slug: 'last', name: 'Last' });
    await assert.rejects(insertFlow(db, { projectId: second.id, slug: 'further', name: 'F' }), conflict);
    await assert.rejects(insertFlow(db, { projectId: project.id, slug: 'further', name: 'F' }), conflict);
    await sql`update flow set deleted_at = now() where id = ${id}`.execute(db);
    await insertFlow(db, { projectId: project.id, slug: 'further', name: 'Further' });
    const other = await createProject(db);
    await insertFlow(db, { projectId: other.project.id, slug: 'further', name: 'Further' });
  });

  it('has a bounded number of projects, also of those made at once', async () => {
    const { db } = database;
    const { organization } = await createProject(db);
    await sql`insert into project (organization_id, slug, name, description)
      select ${organization.id}::uuid, 'made-' || n, 'Made', '' from generate_series(3, ${PROJECTS_MAX}) as n`.execute(
      db,
    );
    const add = (slug: string) => insertProject(db, { organizationId: organization.id, slug, name: slug });
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map(add));
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    await assert.rejects(add('d'), conflict);
  });
});
