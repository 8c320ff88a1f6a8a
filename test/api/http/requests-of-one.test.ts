import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { captureLog } from '../../capture-log.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { lockWaiters } from '../../db/lock-waiters.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

const CONNECTIONS = 4;

describe('requests of one organization', () => {
  let weir: Weir;
  before(async () => {
    weir = await startWeir({ worker: false, env: { WEIR_DATABASE_CONNECTIONS: String(CONNECTIONS) } });
  });
  after(() => weir.stop());

  const deliveries = ({ organizationId, key }: Tenant) =>
    weir.call('GET', `/organizations/${organizationId}/webhooks/deliveries`, { key });

  it('leave database connections to others, however many of them wait', async () => {
    const [busy, other] = [await weir.createTenant(), await weir.createTenant()];
    const flow = await weir.createFlow(busy, []);
    const answers = await weir.db.transaction().execute(async (tx) => {
      await sql`lock table block_run in access exclusive mode`.execute(tx);
      const answers = Promise.all(
        Array.from({ length: 40 }, () => weir.call('GET', `${flow}/runs`, { key: busy.key })),
      );
      // The service asks nothing of this table for itself, and has a connection left.
      await lockWaiters(weir.db, CONNECTIONS - 2);
      assert.equal((await deliveries(other)).status, 200);
      return { answers };
    });
    for (const { status } of await answers.answers) assert.equal(status, 200);
  });

  it('that wait too long for each other are 429, and no outage', async () => {
    const [busy, other] = [await weir.createTenant(), await weir.createTenant()];
    const flow = await weir.createFlow(busy, []);
    const { lines, stop } = captureLog();
    const metrics = captureMetrics();
    const answers = await weir.db.transaction().execute(async (tx) => {
      await sql`lock table block_run in access exclusive mode`.execute(tx);
      const answers = Array.from({ length: 8 }, () => weir.call('GET', `${flow}/runs`, { key: busy.key }));
      await lockWaiters(weir.db, CONNECTIONS - 2);
      const refused = await Promise.race(answers);
      assert.deepEqual([refused.status, refused.body.detail.code], [429, 'RATE_LIMITED']);
      assert.match(refused.body.detail.message, /send fewer at a time/);
      assert(Number(refused.headers.get('retry-after')) >= 1);
      assert.equal((await deliveries(other)).status, 200);
      return { answers };
    });
    const statuses = (await Promise.all(answers.answers)).map(({ status }) => status);
    stop();
    assert.deepEqual(new Set(statuses), new Set([429, 200]));
    const refused = statuses.filter((status) => status === 429).length;
    assert.equal((await metrics.read('weir.rate_limit.refusals'))['limit=requests'], refused);
    metrics.stop();
    assert.deepEqual(
      lines.filter(({ msg }) => msg.startsWith('The database is away')),
      [],
    );
  });
});
