import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { createMemberCache } from '../../../api/auth/member-cache.ts';
import { insertMember } from '../../../db/tenants/memberships.ts';
import { createProject } from '../../db/project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { watchStatements } from '../../db/watch-statements.ts';

describe('the cache of members', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());
  afterEach(() => mock.restoreAll());

  /** Makes a cache, which counts its looks; `join` makes an organization with a member. */
  function setUp() {
    const looks = { count: 0 };
    const db = watchStatements(database.db, () => {
      looks.count += 1;
    });
    const members = createMemberCache(db);
    async function join() {
      const { organization } = await createProject(database.db);
      const [organizationId, userId] = [organization.id, 'ada'];
      await insertMember(database.db, { organizationId, userId, role: 'member' });
      const leave = () =>
        database.db.deleteFrom('membership').where('organization_id', '=', organizationId).execute();
      return { leave, isMember: (user = userId) => members.has(organizationId, user) };
    }
    return { looks, join };
  }

  it('looks once for all who ask within 10 s, and for each user and organization', async () => {
    const { looks, join } = setUp();
    const [acme, other] = [await join(), await join()];
    assert.deepEqual(await Promise.all([acme.isMember(), acme.isMember()]), [true, true]);
    assert.equal(await acme.isMember(), true);
    assert.equal(looks.count, 1);
    assert.equal(await other.isMember(), true);
    assert.equal(looks.count, 2);
    assert.equal(await acme.isMember('grace'), false);
  });

  it('looks again for a stranger, who may have become a member', async () => {
    const { looks, join } = setUp();
    const { isMember } = await join();
    assert.deepEqual([await isMember('grace'), await isMember('grace')], [false, false]);
    assert.equal(looks.count, 2);
  });

  it('notices within 10 s that somebody has left', async () => {
    const { leave, isMember } = await setUp().join();
    assert.equal(await isMember(), true);
    await leave();
    const now = performance.now();
    mock.method(performance, 'now', () => now + 10_001);
    assert.equal(await isMember(), false);
  });
});
