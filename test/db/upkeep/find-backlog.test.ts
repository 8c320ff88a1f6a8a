import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { insertOrganization } from '../../../db/tenants/organizations.ts';
import { findBacklog } from '../../../db/upkeep/list-unfinished.ts';
import {
  beginAttempt,
  endAttempt,
  postponeCheck,
  recordCutAttempt,
} from '../../../db/webhooks/delivery-attempts.ts';
import {
  claimStalledDeliveries,
  insertTestDelivery,
  redeliver,
} from '../../../db/webhooks/open-deliveries.ts';
import { countRowsRead } from '../count-rows-read.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const event = 'flow.completed';
const HOUR_S = 3_600;
const MANY = 20_000;

describe('how long a delivery has been due', () => {
  let database: TestDatabase;
  let organizationId: string;
  before(async () => {
    database = await createTestDatabase();
    const slug = randomUUID();
    ({ id: organizationId } = await insertOrganization(database.db, { slug, name: slug }));
  });
  after(() => database.drop());

  let id: string;
  beforeEach(async () => {
    const { db } = database;
    await sql`truncate webhook_delivery, webhook_attempt`.execute(db);
    id = randomUUID();
    await insertTestDelivery(db, { id, organizationId, event, url: 'https://a.example/', body: '{}' });
  });

  const find = async () => (await findBacklog(database.db)).oldestDueSeconds;
  const anHourPasses = () =>
    sql`update webhook_delivery set created_at = created_at - interval '1 hour',
      next_attempt_at = next_attempt_at - interval '1 hour', check_at = check_at - interval '1 hour'`.execute(
      database.db,
    );
  const begin = () => beginAttempt(database.db, { deliveryId: id, round: 1, attempt: 1 }, '{}');
  const end = (status: 'failed_retry' | 'dead_letter', retryInMs = 0) =>
    endAttempt(
      database.db,
      { deliveryId: id, round: 1, attempt: 1 },
      {
        ...{ status, retryInMs, durationMs: 1, requestHeaders: {} },
        ...{ responseStatus: 500, responseBody: null, errorMessage: null },
      },
    );

  it('grows while nobody attempts it, however often the reconciler looks', async () => {
    for (const hours of [1, 2]) {
      await anHourPasses();
      assert.equal((await claimStalledDeliveries(database.db, { againInSeconds: 60, limit: 10 })).length, 1);
      assert.equal(Math.floor((await find()) / HOUR_S), hours);
    }
  });

  it('grows while it is rescheduled, and the reconciler leaves it alone until it has come back', async () => {
    await postponeCheck(database.db, { deliveryId: id, round: 1 }, HOUR_S * 1_000);
    const claim = () => claimStalledDeliveries(database.db, { againInSeconds: 60, limit: 10 });
    for (const [hours, claimed] of [
      [1, 0],
      [2, 1],
    ]) {
      await anHourPasses();
      assert.deepEqual([Math.floor((await find()) / HOUR_S), (await claim()).length], [hours, claimed]);
    }
  });

  it('is 0 during an attempt, until the next one is due, and after the last', async () => {
    await anHourPasses();
    await begin();
    assert.equal(await find(), 0);
    await end('failed_retry', 2 * HOUR_S * 1_000);
    assert.equal(await find(), 0);
    for (const hours of [-1, 0, 1]) {
      await anHourPasses();
      assert.equal(Math.max(0, Math.floor((await find()) / HOUR_S)), Math.max(0, hours));
    }
    await begin();
    await end('dead_letter');
    assert.equal(await find(), 0);
  });

  it('is 0 after an attempt that was cut off until the next one is due, and the reconciler leaves it alone', async () => {
    const { db } = database;
    const fourth = { deliveryId: id, round: 1, attempt: 4 };
    await beginAttempt(db, fourth, '{}');
    await recordCutAttempt(db, fourth);
    const claim = () => claimStalledDeliveries(db, { againInSeconds: 60, limit: 10 });
    await anHourPasses();
    assert.deepEqual([await find(), await claim()], [0, []]);
    // The engine makes the next attempt 139 minutes after the one that was cut off.
    for (const hours of [0, 0, 1]) {
      await anHourPasses();
      assert.equal(Math.max(0, Math.floor((await find()) / HOUR_S)), hours);
    }
    assert.equal((await claim()).length, 1);
  });

  it('begins anew when it is sent again', async () => {
    await anHourPasses();
    await redeliver(database.db, organizationId, id);
    assert.equal(Math.floor((await find()) / HOUR_S), 0);
  });

  it(`is found without reading ${MANY} others`, async () => {
    const { db } = database;
    await sql`insert into webhook_delivery (organization_id, event_type, target_url, status, next_attempt_at)
      select ${organizationId}::uuid, 'flow.completed', 'https://b.example/',
        (array['failed_retry', 'in_flight', 'succeeded'])[1 + n % 3], now() + interval '1 hour'
      from generate_series(1, ${MANY}) n`.execute(db);
    await sql`analyze webhook_delivery`.execute(db);
    await anHourPasses();
    const read = await countRowsRead(database.url, async (own) => {
      assert.equal(Math.floor((await findBacklog(own)).oldestDueSeconds / HOUR_S), 1);
    });
    assert.ok(read < 10, `${read} rows`);
  });
});
