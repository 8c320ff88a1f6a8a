// The drill of docs/operating/backups.md: a backup beside a running service, a new database, an empty Temporal.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { restoreBackup } from '../../db/backup/restore-backup.ts';
import { writeBackup } from '../../db/backup/write-backup.ts';
import { connect, type Db } from '../../db/connect.ts';
import { startTemporal, type Temporal } from '../../dev/temporal/temporal.ts';
import { describeWithPostgres, startDebianPostgres } from '../db/debian-postgres.ts';
import { auditUsage } from '../db/usage/audit-usage.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { type FakeModelServer, startFakeModelServer } from '../fakes/model-server.ts';
import type { WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { startWeir, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { startWebhookWeir, type WebhookWeir } from '../webhooks.ts';
import { itWith } from '../where-available.ts';
import { beginWork, checkCallers, type WorkUnderWay } from './work-under-way.ts';

describeWithPostgres('a service that is restored', function () {
  this.timeout(600_000);
  const { TEST_DATABASE_URL } = process.env;
  let postgres: Awaited<ReturnType<typeof startDebianPostgres>>;
  let models: CountingModelServer;
  let tools: FakeModelServer;
  let folder: string;
  let temporal: Temporal;

  before(async () => {
    postgres = await startDebianPostgres();
    process.env.TEST_DATABASE_URL = postgres.url;
    models = await startCountingModelServer(0);
    tools = await startFakeModelServer();
    folder = mkdtempSync(path.join(tmpdir(), 'weir-restore-'));
    temporal = await startTemporal({ stateFolder: folder, durable: false });
  });
  after(async () => {
    process.env.TEST_DATABASE_URL = TEST_DATABASE_URL;
    await models.close();
    await tools.close();
    await temporal.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  itWith(
    ['openssl'],
    'into an empty Temporal ends all that was accepted, and repeats only what came later',
    async () => {
      const env = { DEMO_BASE_URL: models.url, OPENAI_BASE_URL: tools.provider.baseUrl };
      const first = await startWebhookWeir({ env });
      const target = await createEmptyDatabase(postgres.url);
      try {
        const work = await beginWork(first, { counting: models, tools });
        const file = path.join(folder, 'weir.dump');
        await writeBackup(first.config.databaseUrl, file);
        await work.end();
        await restoreBackup(target.url, file);
        // Of Temporal nothing is left, and the hours until the third attempt have passed.
        await sql`update webhook_delivery set check_at = now() where id = ${work.deliveryId}`.execute(
          target.db,
        );
        const second = await startWeir({
          env: { ...first.env, DATABASE_URL: target.url, TEMPORAL_ADDRESS: temporal.address },
        });
        try {
          await checkRuns(second, target.db, work);
          await checkCallers(second, work, tools);
          await checkDeliveries(first, target.db, work);
          await checkBooks(second, target.db, work);
        } finally {
          await second.stop();
        }
      } finally {
        await target.drop();
        await first.stop();
      }
    },
  );

  async function checkRuns(weir: Weir, db: Db, { runs, tenant, testRunId }: WorkUnderWay): Promise<void> {
    for (const [name, { flow, executionId, blocks, charged }] of Object.entries(runs)) {
      const { body } = await weir.finish(flow, executionId, tenant.key);
      assert.equal(body.status, 'completed', `${name}: ${body.errorMessage}`);
      assert.deepEqual(await countOf(db, executionId), { blocks, charged }, name);
    }
    await waitUntil(async () => {
      const { rows } = await sql<{
        status: string;
      }>`select status from test_run where id = ${testRunId}`.execute(db);
      return rows[0]?.status === 'completed';
    });
    const { rows } = await sql`select status from test_result where test_run_id = ${testRunId}`.execute(db);
    assert.deepEqual(rows, [{ status: 'passed' }]);
    const asked = (prompt: string) => models.asked.get(prompt);
    for (const recorded of ['first ended', 'ended', 'first hold', 'one'])
      assert.equal(asked(recorded), 1, `${recorded} was recorded before the backup`);
    for (const later of ['hold', 'hold two', 'hold test'])
      assert.equal(asked(later), 2, `${later} was answered after the backup`);
    assert.equal(asked('waiting'), 1);
    const flow = runs.asked?.flow.split('/').at(-1);
    await waitUntil(async () => (await weir.client.workflow.count(`WeirFlow = '${flow}'`)).count >= 2);
  }

  async function checkDeliveries(weir: WebhookWeir, db: Db, work: WorkUnderWay): Promise<void> {
    const hook = weir.hooks[0] as WebhookReceiver;
    await waitUntil(async () => (await statusOf(db, work.deliveryId)) === 'succeeded');
    const of = (id: string) =>
      hook.received.filter(({ headers }) => headers['x-weir-delivery'] === id).length;
    assert.equal(of(work.deliveryId), 3);
    assert.equal(of(work.deliveredId), 1);
    const { rows } = await sql<{ attempt: number }>`
      select attempt from webhook_attempt where delivery_id = ${work.deliveryId} order by attempt`.execute(
      db,
    );
    assert.deepEqual(
      rows.map(({ attempt }) => attempt),
      [1, 2, 3],
    );
  }

  /** The ledger is exact, nothing stays reserved, and what comes next is numbered on. */
  async function checkBooks(weir: Weir, db: Db, { tenant, runs }: WorkUnderWay): Promise<void> {
    const { organizationId } = tenant;
    const { rows } = await sql<{ ledger: string; balance: number; reserved: number }>`
      select (select sum(amount_microcredits) from ledger_entry where organization_id = ${organizationId}) as ledger,
        (select count(*) from reservation where organization_id = ${organizationId})::int as reserved,
        balance_microcredits as balance from organization where id = ${organizationId}`.execute(db);
    assert.equal(Number(rows[0]?.ledger), rows[0]?.balance);
    assert.equal(rows[0]?.reserved, 0);
    await auditUsage(db, organizationId);
    const flow = runs.ended?.flow ?? '';
    const { body } = await weir.call('POST', `${flow}/execute`, {
      key: tenant.key,
      body: { message: 'new' },
    });
    assert.equal(body.status, 'completed');
  }
});

async function countOf(db: Db, executionId: string): Promise<{ blocks: number; charged: number }> {
  const { rows } = await sql<{ blocks: number; charged: number }>`
    select (select count(*) from block_run where execution_id = ${executionId} and status = 'completed')::int as blocks,
      (select count(*) from ledger_entry where execution_id = ${executionId})::int as charged`.execute(db);
  return rows[0] as { blocks: number; charged: number };
}

async function statusOf(db: Db, deliveryId: string): Promise<string | undefined> {
  const { rows } = await sql<{
    status: string;
  }>`select status from webhook_delivery where id = ${deliveryId}`.execute(db);
  return rows[0]?.status;
}

async function createEmptyDatabase(cluster: string): Promise<{ db: Db; url: string; drop(): Promise<void> }> {
  const url = new URL(cluster);
  const admin = connect(url.href, 1);
  url.pathname = `weir_restored_${randomBytes(6).toString('hex')}`;
  const name = sql.id(url.pathname.slice(1));
  await sql`create database ${name} template template0`.execute(admin);
  const db = connect(url.href, 2);
  return {
    db,
    url: url.href,
    async drop() {
      await db.destroy();
      await sql`drop database ${name} with (force)`.execute(admin);
      await admin.destroy();
    },
  };
}
