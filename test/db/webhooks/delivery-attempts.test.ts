import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { findDelivery } from '../../../db/webhooks/deliveries.ts';
import { beginAttempt, endAttempt, recordCutAttempt } from '../../../db/webhooks/delivery-attempts.ts';
import { insertTestDelivery, redeliver } from '../../../db/webhooks/open-deliveries.ts';
import { createProject } from '../project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('the record of a delivery', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('has the answer of one attempt until the next one begins, or it is sent again', async () => {
    const { db } = database;
    const { organization } = await createProject(db);
    const [deliveryId, organizationId] = [randomUUID(), organization.id];
    const delivery = { id: deliveryId, organizationId, url: 'https://example.com/', body: '{}' };
    await insertTestDelivery(db, { ...delivery, event: 'flow.failed' });
    const record = async () => {
      const row = await findDelivery(db, organizationId, deliveryId);
      return [row?.status, row?.attempt, row?.response_status, row?.error_message];
    };
    const begin = (attempt: number) => beginAttempt(db, { deliveryId, round: 1, attempt }, '{}');
    const end = (attempt: number, status: 'failed_retry' | 'succeeded', responseStatus: number) =>
      endAttempt(
        db,
        { deliveryId, round: 1, attempt },
        {
          status,
          responseStatus,
          errorMessage: status === 'succeeded' ? null : 'away',
          durationMs: 1,
          requestHeaders: {},
          responseBody: null,
          retryInMs: 60_000,
        },
      );

    await begin(1);
    await end(1, 'failed_retry', 500);
    assert.deepEqual(await record(), ['failed_retry', 1, 500, 'away']);
    await begin(2);
    assert.deepEqual(await record(), ['in_flight', 2, null, null]);
    await recordCutAttempt(db, { deliveryId, round: 1, attempt: 2 });
    const cut = 'The attempt was cut off: its worker was lost.';
    assert.deepEqual(await record(), ['failed_retry', 2, null, cut]);
    await begin(3);
    await end(3, 'succeeded', 200);
    assert.deepEqual(await record(), ['succeeded', 3, 200, null]);
    await redeliver(db, organizationId, deliveryId);
    assert.deepEqual(await record(), ['pending', 0, null, null]);
  });
});
