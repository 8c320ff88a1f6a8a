import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { takeRequests } from '../../../db/tenants/limits.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('a rate limit', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('refuses for a minute at most when the clock of the database was set back', async () => {
    const { db } = database;
    const quota = { name: 'test', subject: randomUUID(), perMinute: 60 };
    await takeRequests(db, quota, 1);
    await sql`update rate_limit set full_at = now() + interval '1 hour' where subject = ${quota.subject}`.execute(
      db,
    );
    const refused = await takeRequests(db, quota, 1);
    assert.equal(refused.taken, false);
    assert(refused.fullInUs <= 60_000_000, String(refused.fullInUs));
    await sql`update rate_limit set full_at = full_at - interval '1 s' where subject = ${quota.subject}`.execute(
      db,
    );
    assert.equal((await takeRequests(db, quota, 1)).taken, true);
  });
});
