import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { listAttempts } from '../../../db/webhooks/deliveries.ts';
import { insertTestDelivery, redeliver, redeliverMany } from '../../../db/webhooks/open-deliveries.ts';
import { createProject } from '../project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('the attempts of a delivery that is sent again and again', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  /** A delivery in this round, with `each` attempts in it and in each round before. */
  async function deliver(round: number, each: number) {
    const { db } = database;
    const { organization } = await createProject(db);
    const id = randomUUID();
    const delivery = { id, organizationId: organization.id, url: 'https://example.com/', body: '{}' };
    await insertTestDelivery(db, { ...delivery, event: 'flow.failed' });
    await db
      .updateTable('webhook_delivery')
      .set({ round, status: 'dead_letter' })
      .where('id', '=', id)
      .execute();
    const attempts = Array.from({ length: round * each }, (_, index) => ({
      delivery_id: id,
      round: Math.floor(index / each) + 1,
      attempt: (index % each) + 1,
    }));
    await db.insertInto('webhook_attempt').values(attempts).execute();
    const rounds = async () => [...new Set((await listAttempts(db, id)).map((attempt) => attempt.round))];
    return { id, organizationId: organization.id, rounds };
  }

  it('are listed in the order they were made, the last 120 of them', async () => {
    const { id } = await deliver(30, 6);
    const listed = await listAttempts(database.db, id);
    assert.equal(listed.length, 120);
    assert.deepEqual([listed[0]?.round, listed[0]?.attempt], [11, 1]);
    assert.deepEqual([listed.at(-1)?.round, listed.at(-1)?.attempt], [30, 6]);
  });

  it('are kept of the last 20 rounds, however it is sent again', async () => {
    const one = await deliver(20, 1);
    const many = await deliver(21, 1);
    await redeliver(database.db, one.organizationId, one.id);
    assert.deepEqual(
      await one.rounds(),
      Array.from({ length: 19 }, (_, index) => index + 2),
    );
    const { organizationId } = many;
    const filter = { organizationId, since: new Date(0), statuses: ['dead_letter' as const], limit: 10 };
    assert.equal((await redeliverMany(database.db, filter)).calls.length, 1);
    assert.deepEqual(
      await many.rounds(),
      Array.from({ length: 19 }, (_, index) => index + 3),
    );
  });
});
