import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { sql } from 'kysely';
import { attemptDelivery } from '../../../activities/deliveries/attempt-delivery.ts';
import { createDeliveryGate, PAIR_MAX } from '../../../activities/deliveries/delivery-gate.ts';
import { connect, type Db } from '../../../db/connect.ts';
import { insertOrganization } from '../../../db/tenants/organizations.ts';
import { cancelDeliveries } from '../../../db/webhooks/deliveries.ts';
import { abandonDelivery } from '../../../db/webhooks/delivery-attempts.ts';
import { insertTestDelivery, redeliver } from '../../../db/webhooks/open-deliveries.ts';
import { ATTEMPTS_MAX, type DeliveryCall } from '../../../flow/delivery.ts';
import { createBytesGate } from '../../../platform/limits/gates.ts';
import { NoAnswer } from '../../../platform/net/guarded-post.ts';
import { createEncryption } from '../../../platform/secrets/encrypt.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { attemptOf } from '../attempt-of.ts';

describe('an attempt', () => {
  let database: TestDatabase;
  let sent = 0;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const depsWith = (db: Db, keyId = 'a') => ({
    db,
    encryption: createEncryption([{ id: keyId, key: Buffer.alloc(32, keyId) }]),
    gate: createDeliveryGate({ waitMaxMs: 0 }),
    inputs: createBytesGate(),
    post: async () => {
      sent += 1;
      return { status: 204, body: Buffer.from('\0\ud800') };
    },
  });
  /** Records a delivery that was attempted `attempt` times. */
  const record = async (attempt = 0) => {
    const slug = `org-${randomUUID()}`;
    const { id: organizationId } = await insertOrganization(database.db, { slug, name: slug });
    const call = {
      deliveryId: randomUUID(),
      round: 1,
      made: 0,
      organizationId,
      event: 'flow.failed',
      host: 'h',
    } as const;
    const { deliveryId: id, event } = call;
    await insertTestDelivery(database.db, { id, organizationId, event, url: 'https://h.test/', body: '{}' });
    await database.db.updateTable('webhook_delivery').set({ attempt }).where('id', '=', id).execute();
    return call;
  };

  it('is none while the database is away: nothing is sent, and as many attempts are left', async () => {
    const call = await record();
    const away = connect('postgres://127.0.0.1:1/none');
    sent = 0;
    assert.deepEqual(await attemptDelivery(depsWith(away), call, 3, attemptOf(1)), { made: 2 });
    assert.equal(sent, 0);
    await away.destroy();
  });

  it('is none while the key of the signing secret is not configured', async () => {
    const call = await record();
    assert.equal(await attemptDelivery(depsWith(database.db), call, 1, attemptOf(1)), 'over');
    await database.db.updateTable('webhook_delivery').set({ status: 'pending' }).execute();
    sent = 0;
    assert.deepEqual(await attemptDelivery(depsWith(database.db, 'b'), call, 2, attemptOf(1)), { made: 1 });
    assert.equal(sent, 0);
  });

  it('is not made again once it succeeded, nor for a round that another has followed', async () => {
    const call = await record();
    sent = 0;
    assert.equal(await attemptDelivery(depsWith(database.db), call, 1, attemptOf(1)), 'over');
    assert.equal(await attemptDelivery(depsWith(database.db), call, 2, attemptOf(1)), 'over');
    await database.db.updateTable('webhook_delivery').set({ status: 'pending', round: 2 }).execute();
    assert.equal(await attemptDelivery(depsWith(database.db), call, 1, attemptOf(1)), 'over');
    assert.equal(sent, 1);
  });

  describe('that an engine which was set back has forgotten', () => {
    /** Records a delivery of which `attempt` was begun last, and attempts `number` of it. */
    async function attemptAfter(attempt: number, values: object, number: number) {
      const call = await record();
      const row = database.db.updateTable('webhook_delivery').where('id', '=', call.deliveryId);
      await row.set({ attempt, ...values }).execute();
      sent = 0;
      return attemptDelivery(depsWith(database.db), call, number, attemptOf(1));
    }
    const cut = { status: 'in_flight', next_attempt_at: null };

    it('is not made again when it failed: the next one comes when it is due', async () => {
      const later = { status: 'failed_retry', next_attempt_at: new Date(Date.now() + 600_000) };
      const result = await attemptAfter(3, later, 2);
      assert(result !== 'over' && (result.dueInMs ?? 0) > 500_000, JSON.stringify(result));
      assert.deepEqual([result.made, sent], [3, 0]);
    });

    it('is made again when it was begun, and it is not known whether it was sent', async () => {
      assert.deepEqual(await attemptAfter(3, cut, 1), { made: 2, dueInMs: 0 });
      assert.equal(sent, 0);
      for (const number of [3, ATTEMPTS_MAX]) {
        assert.equal(await attemptAfter(number, cut, number), 'over');
        assert.equal(sent, 1);
      }
    });
  });

  it('keeps what the receiver made of it, whatever that holds', async () => {
    const call = await record();
    const post = () => Promise.reject(new NoAnswer(`\0\ud800${'x'.repeat(100_000)}`));
    await assert.rejects(
      attemptDelivery({ ...depsWith(database.db), post }, call, 1, attemptOf(1)),
      ApplicationFailure,
    );
    const { status, error_message } = await database.db
      .selectFrom('webhook_delivery')
      .select(['status', 'error_message'])
      .where('id', '=', call.deliveryId)
      .executeTakeFirstOrThrow();
    assert.deepEqual([status, error_message?.length], ['failed_retry', 1_024]);
  });

  it('makes a dead letter of its delivery when it is the last, which is counted', async () => {
    const call = await record(ATTEMPTS_MAX - 1);
    const post = async () => ({ status: 503, body: Buffer.from('later') });
    const metrics = captureMetrics();
    await assert.rejects(
      attemptDelivery({ ...depsWith(database.db), post }, call, ATTEMPTS_MAX, attemptOf(1)),
      ApplicationFailure,
    );
    const { status } = await database.db
      .selectFrom('webhook_delivery')
      .select('status')
      .where('id', '=', call.deliveryId)
      .executeTakeFirstOrThrow();
    assert.equal(status, 'dead_letter');
    assert.deepEqual(await metrics.read('weir.webhook.dead_letters'), { '': 1 });
    assert.deepEqual(await metrics.read('weir.webhook.attempt.duration'), { 'result=dead_letter': 1 });
    metrics.stop();
  });

  describe('that ends after its worker was taken for lost', () => {
    /** The status of a delivery, and what the receiver answered, when `meanwhile` happens during an attempt at it. */
    async function endAfter(
      number: number,
      status: number,
      meanwhile: (call: DeliveryCall) => Promise<unknown>,
    ) {
      const call = await record(number - 1);
      const post = async () => {
        await meanwhile(call);
        return { status, body: Buffer.from('') };
      };
      await attemptDelivery({ ...depsWith(database.db), post }, call, number, attemptOf(1)).catch((error) =>
        assert(error instanceof ApplicationFailure, String(error)),
      );
      const row = await database.db
        .selectFrom('webhook_delivery')
        .select(['status', 'response_status', 'error_message'])
        .where('id', '=', call.deliveryId)
        .executeTakeFirstOrThrow();
      return Object.values(row);
    }
    const abandon = (call: DeliveryCall) => abandonDelivery(database.db, call, 'lost');

    for (const [status, ...end] of [
      [204, 'succeeded', 204, null],
      [410, 'failed_permanent', 410, 'The receiver answered 410.'],
      [503, 'dead_letter', 503, 'The receiver answered 503.'],
    ] as const)
      it(`ends the delivery that was given up as ${end[0]} after ${status}`, async () => {
        assert.deepEqual(await endAfter(ATTEMPTS_MAX, status, abandon), end);
      });

    it('leaves it given up where another attempt would have followed, which nobody would make', async () => {
      assert.deepEqual(await endAfter(3, 503, abandon), ['dead_letter', null, 'lost']);
    });

    it('leaves a delivery alone that was sent again, or whose project was deleted', async () => {
      const sentAgain = async (call: DeliveryCall) => {
        await abandon(call);
        await redeliver(database.db, call.organizationId, call.deliveryId);
      };
      assert.equal((await endAfter(ATTEMPTS_MAX, 204, sentAgain))[0], 'pending');
      const deleted = ({ deliveryId }: DeliveryCall) =>
        cancelDeliveries(database.db, sql`id = ${deliveryId}`);
      assert.equal((await endAfter(ATTEMPTS_MAX, 204, deleted))[0], 'failed_permanent');
    });
  });

  it('makes the signing secret where there is none, which is in the audit log once', async () => {
    const call = await record();
    const { organizationId, event } = call;
    const other = { ...call, deliveryId: randomUUID() };
    await insertTestDelivery(database.db, {
      id: other.deliveryId,
      organizationId,
      event,
      url: 'https://h.test/',
      body: '{}',
    });
    const deps = depsWith(database.db);
    await Promise.all([call, other].map((each) => attemptDelivery(deps, each, 1, attemptOf(1))));
    const entries = await database.db
      .selectFrom('audit_entry')
      .select(['action', 'actor'])
      .where('organization_id', '=', organizationId)
      .execute();
    assert.deepEqual(entries, [{ action: 'webhook_secret.create', actor: 'service' }]);
  });

  describe('while the organization has all its permits for the host', () => {
    const rowOf = ({ deliveryId }: DeliveryCall) =>
      database.db
        .selectFrom('webhook_delivery')
        .select([
          'status',
          'attempt',
          'next_attempt_at',
          sql<number>`extract(epoch from check_at - now())`.as('check'),
        ])
        .where('id', '=', deliveryId)
        .executeTakeFirstOrThrow();
    const occupied = async (call: DeliveryCall) => {
      const deps = depsWith(database.db);
      const permits = await Promise.all(Array.from({ length: PAIR_MAX }, () => deps.gate.acquire(call)));
      const release = () => {
        for (const permit of permits) if ('release' in permit) permit.release();
      };
      return { deps, release };
    };

    it('is none: its delivery comes back later, as it was, and is made then', async () => {
      const call = await record(3);
      const { deps, release } = await occupied(call);
      const before = await rowOf(call);
      sent = 0;
      const result = await attemptDelivery(deps, call, 4, attemptOf(1));
      assert(result !== 'over' && result.dueInMs);
      assert.deepEqual([result.made, sent], [3, 0]);
      const { check, ...after } = await rowOf(call);
      assert.deepEqual({ ...after, check: before.check }, before);
      assert(check > result.dueInMs / 1_000, 'The reconciler looks while the delivery waits.');
      release();
      assert.equal(await attemptDelivery(deps, call, 4, attemptOf(1)), 'over');
      assert.deepEqual([(await rowOf(call)).attempt, sent], [4, 1]);
    });

    it('needs none where the delivery was sent again or has ended', async () => {
      const call = await record();
      const { deps } = await occupied(call);
      await redeliver(database.db, call.organizationId, call.deliveryId);
      assert.equal(await attemptDelivery(deps, call, 1, attemptOf(1)), 'over');
      const again = { ...call, round: 2 };
      await abandonDelivery(database.db, again, 'cancelled');
      assert.equal(await attemptDelivery(deps, again, 1, attemptOf(1)), 'over');
    });
  });

  it('is not counted when its worker was lost before it began', async () => {
    const call = await record(1);
    sent = 0;
    assert.deepEqual(await attemptDelivery(depsWith(database.db), call, 4, attemptOf(3)), {
      made: 1,
      dueInMs: 0,
    });
    assert.equal(sent, 0);
  });
});
