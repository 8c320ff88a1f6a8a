import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { takeRequest } from '../../../db/tenants/limits.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { watchStatements } from '../watch-statements.ts';

describe('rate limits in the database', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const quotaOf = (perMinute: number, name = 'test') => ({ name, subject: randomUUID(), perMinute });

  it('count a request in one statement', async () => {
    let statements = 0;
    const db = watchStatements(database.db, () => {
      statements += 1;
    });
    const quotas = [quotaOf(10, 'API key'), quotaOf(20, 'organization')];
    const states = await takeRequest(db, quotas);
    assert.deepEqual(
      states.map(({ name, allowed, remaining }) => [name, allowed, remaining]),
      [
        ['API key', true, 9],
        ['organization', true, 19],
      ],
    );
    assert.equal(statements, 1);
    assert.deepEqual(await takeRequest(db, []), []);
    assert.equal(statements, 1);
  });

  it('take nothing from the next quota when one is used up, and say when it has a request again', async () => {
    const { db } = database;
    const [key, organization] = [quotaOf(1), quotaOf(20)];
    await takeRequest(db, [key, organization]);
    const [refused, ...others] = await takeRequest(db, [key, organization]);
    assert.deepEqual(others, []);
    assert.deepEqual([refused?.allowed, refused?.remaining], [false, 0]);
    const { retrySeconds = 0, resetSeconds } = refused ?? {};
    assert(retrySeconds > 0 && retrySeconds <= 60, String(retrySeconds));
    assert.equal(resetSeconds, retrySeconds);
    assert.equal((await takeRequest(db, [organization]))[0]?.remaining, 18);
  });

  it('allow no more than a quota to requests at the same time', async () => {
    const [key, organization] = [quotaOf(30), quotaOf(5)];
    const taken = await Promise.all(
      Array.from({ length: 20 }, () => takeRequest(database.db, [key, organization])),
    );
    assert.equal(taken.filter((states) => states.every(({ allowed }) => allowed)).length, 5);
  });

  it('refuse for a minute at most when the clock of the database was set back', async () => {
    const { db } = database;
    const quota = quotaOf(60);
    await takeRequest(db, [quota]);
    await sql`update rate_limit set full_at = now() + interval '1 hour' where subject = ${quota.subject}`.execute(
      db,
    );
    const [refused] = await takeRequest(db, [quota]);
    assert.equal(refused?.allowed, false);
    assert(refused.resetSeconds <= 60, String(refused.resetSeconds));
    await sql`update rate_limit set full_at = full_at - interval '1 s' where subject = ${quota.subject}`.execute(
      db,
    );
    assert.equal((await takeRequest(db, [quota]))[0]?.allowed, true);
  });
});
