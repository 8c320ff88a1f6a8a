import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addRateLimited } from '../../../db/usage/count-usage.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const CALLERS = 10_000;

describe('refused requests', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('are added for as many callers as one process counts at a time', async () => {
    const requests = Array.from({ length: CALLERS }, (_, index) => ({
      ...{ organizationId: randomUUID(), projectId: randomUUID() },
      ...{ keyId: `${index}`, count: 2 },
    }));
    await addRateLimited(database.db, requests);
    await addRateLimited(database.db, requests);
    const { sum } = await database.db
      .selectFrom('usage')
      .select((eb) => eb.fn.sum<number>('count').as('sum'))
      .executeTakeFirstOrThrow();
    assert.equal(Number(sum), 4 * CALLERS);
  });
});
