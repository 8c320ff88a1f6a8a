import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { FLOWS_MAX, insertFlow } from '../../../db/flows/flows.ts';
import {
  listVersions,
  publishVersion,
  VERSIONS_MAX,
  VERSIONS_MAX_BYTES,
} from '../../../db/flows/versions.ts';
import { insertProject, PROJECTS_MAX } from '../../../db/tenants/projects.ts';
import { createFlow, createProject } from '../project-fixture.ts';
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

describe('the versions of a flow', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('take a bounded room in the database together; those of another flow are not counted', async () => {
    const { db } = database;
    const { id } = await createFlow(db);
    // So that the texts below take as much room as they have characters.
    await sql`alter table flow_version alter column definition set storage external`.execute(db);
    const add = (version: number, bytes: number) =>
      sql`insert into flow_version (flow_id, version, note, definition)
        values (${id}, ${version}, '', json_build_object('steps', repeat('x', ${bytes})))`.execute(db);
    await add(1, VERSIONS_MAX_BYTES / 2);
    await add(2, VERSIONS_MAX_BYTES / 2 - 1_000);
    assert.equal(await publishVersion(db, id, 'fits'), 3);
    await add(4, 1_000);
    await assert.rejects(publishVersion(db, id, 'does not fit'), {
      code: 'CONFLICT',
      message: /take 256 MiB, the most they can: publish further ones from another flow/,
    });
    assert.equal((await listVersions(db, id)).length, 4);
    assert.equal(await publishVersion(db, (await createFlow(db)).id, 'of another flow'), 1);
  });

  it('are bounded in number, however small they are', async () => {
    const { db } = database;
    const { id } = await createFlow(db);
    await sql`insert into flow_version (flow_id, version, note, definition)
      values (${id}, ${VERSIONS_MAX - 1}, '', '{"steps":[]}')`.execute(db);
    assert.equal(await publishVersion(db, id, 'the last one'), VERSIONS_MAX);
    await assert.rejects(publishVersion(db, id, 'one too many'), {
      code: 'CONFLICT',
      message: /at most 10000 versions: publish further ones from another flow/,
    });
    assert.equal((await listVersions(db, id)).length, 2);
  });
});
