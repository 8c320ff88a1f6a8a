import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { isStillMember } from '../../../api/auth/is-still-member.ts';
import { insertMember } from '../../../db/tenants/memberships.ts';
import { createProject } from '../../db/project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { watchStatements } from '../../db/watch-statements.ts';

describe('isStillMember', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());
  afterEach(() => mock.restoreAll());

  const setUp = async () => {
    const { organization } = await createProject(database.db);
    const [organizationId, userId] = [organization.id, 'ada'];
    await insertMember(database.db, { organizationId, userId, role: 'member' });
    const looks = { count: 0 };
    const db = watchStatements(database.db, () => {
      looks.count += 1;
    });
    const leave = () =>
      database.db.deleteFrom('membership').where('organization_id', '=', organizationId).execute();
    return { looks, leave, isMember: (user = userId) => isStillMember(db, organizationId, user) };
  };

  it('looks once for all who ask within 10 s, and for each user and organization', async () => {
    const [acme, other] = [await setUp(), await setUp()];
    assert.deepEqual(await Promise.all([acme.isMember(), acme.isMember()]), [true, true]);
    assert.equal(await acme.isMember(), true);
    assert.equal(acme.looks.count, 1);
    assert.equal(await other.isMember(), true);
    assert.equal(other.looks.count, 1);
    assert.equal(await acme.isMember('grace'), false);
  });

  it('looks again for a stranger, who may have become a member', async () => {
    const { looks, isMember } = await setUp();
    assert.deepEqual([await isMember('grace'), await isMember('grace')], [false, false]);
    assert.equal(looks.count, 2);
  });

  it('notices within 10 s that somebody has left', async () => {
    const { leave, isMember } = await setUp();
    assert.equal(await isMember(), true);
    await leave();
    const now = performance.now();
    mock.method(performance, 'now', () => now + 10_001);
    assert.equal(await isMember(), false);
  });
});
