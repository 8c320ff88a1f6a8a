import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import { recoverDeliveries } from '../../../api/webhooks/recorded-resends.ts';
import { insertTestDelivery } from '../../../db/webhooks/open-deliveries.ts';
import { createProject } from '../../db/project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';

describe('the recovery of deliveries', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => mock.timers.reset());
  after(() => database.drop());

  it('without an end takes all that have failed, also when the clock of the API is behind', async () => {
    const { db } = database;
    const { organization } = await createProject(db);
    const id = randomUUID();
    const test = { event: 'flow.failed' as const, url: 'https://receiver.example/', body: '{}' };
    await insertTestDelivery(db, { ...test, id, organizationId: organization.id });
    await db.updateTable('webhook_delivery').set({ status: 'dead_letter' }).where('id', '=', id).execute();
    const madeAt = Date.now();
    mock.timers.enable({ apis: ['Date'], now: madeAt - 60_000 });
    const recover = (until?: Date) =>
      db
        .transaction()
        .execute((tx) =>
          recoverDeliveries(
            tx,
            { actor: 'ada', requestId: 'request' },
            { organizationId: organization.id, since: new Date(0), until },
          ),
        );
    assert.equal((await recover(new Date())).length, 0);
    assert.deepEqual(
      (await recover()).map(({ deliveryId }) => deliveryId),
      [id],
    );
  });
});
