import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import { recoverDeliveries } from '../../../api/webhooks/recorded-redeliveries.ts';
import { insertTestDelivery } from '../../../db/webhooks/open-deliveries.ts';
import { createProject } from '../../db/project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { getSharedWeir } from '../../shared-weir.ts';

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
    assert.equal((await recover(new Date())).calls.length, 0);
    assert.deepEqual(
      (await recover()).calls.map(({ deliveryId }) => deliveryId),
      [id],
    );
  });

  it('takes the 1,000 oldest at a time, and goes on after them, also where these have failed again', async () => {
    const weir = await getSharedWeir();
    try {
      const { organizationId, key } = await weir.createTenant();
      const begun = Date.now() - 3_600_000;
      const rows = Array.from({ length: 1_001 }, (_, ms) => ({
        id: randomUUID(),
        organization_id: organizationId,
        event_type: 'flow.failed' as const,
        target_url: 'https://receiver.example/',
        body: '{}',
        status: 'dead_letter' as const,
        // The last two were made in one millisecond.
        created_at: new Date(begun + Math.min(ms, 999)),
      }));
      await weir.db.insertInto('webhook_delivery').values(rows).execute();
      const recover = async (cursor?: string) => {
        const body = { since: new Date(begun).toISOString(), cursor };
        const path = `/organizations/${organizationId}/webhooks/recover`;
        return (await weir.call('POST', path, { key, body })).body;
      };
      const deadLetters = () =>
        weir.db
          .selectFrom('webhook_delivery')
          .select('id')
          .where('organization_id', '=', organizationId)
          .where('status', '=', 'dead_letter')
          .execute();
      const { nextCursor, ...first } = await recover();
      assert.deepEqual(first, { recovered: 1_000, hasMore: true });
      assert.deepEqual(await deadLetters(), [{ id: rows.at(-1)?.id }]);
      // All fail again.
      await weir.db
        .updateTable('webhook_delivery')
        .set({ status: 'dead_letter' })
        .where('organization_id', '=', organizationId)
        .execute();
      assert.deepEqual(await recover(nextCursor), { recovered: 1, hasMore: false, nextCursor: null });
      assert.equal((await deadLetters()).length, 1_000);
      assert(!(await deadLetters()).some(({ id }) => id === rows.at(-1)?.id));
    } finally {
      await weir.stop();
    }
  });
});
