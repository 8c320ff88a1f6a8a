// The drill of docs/operating/backups.md: a backup beside a running service, a new database, an empty Temporal.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { restoreBackup } from '../../db/backup/restore-backup.ts';
import { writeBackup } from '../../db/backup/write-backup.ts';
import { connect, type Db } from '../../db/connect.ts';
import { startTemporal, type Temporal } from '../../dev/temporal/temporal.ts';
import { auditUsage } from '../db/usage/audit-usage.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { type FakeModelServer, startFakeModelServer } from '../fakes/model-server.ts';
import type { WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { startWeir, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { startWebhookWeir, type WebhookWeir } from '../webhooks.ts';
import { describeWith } from '../where-available.ts';
import { beginWork, checkCallers, type WorkUnderWay } from './work-under-way.ts';

const run = promisify(execFile);
const TIMEOUT_MS = 600_000;

/** Ways to bring a database into a new one, which is empty; `between` happens after the moment of the backup. */
const WAYS: {
  [name: string]: (from: string, file: string, to: string, between: () => Promise<void>) => Promise<void>;
} = {
  async 'weir backup'(from, file, to, between) {
    await writeBackup(from, file);
    await between();
    await restoreBackup(to, file);
  },
  async pg_dump(from, file, to, between) {
    await run('pg_dump', ['--format=custom', `--file=${file}`, from]);
    await between();
    await run('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${to}`, file]);
  },
};

/** Why a way may be left out. */
const NEEDS: { [way: string]: string } = { pg_dump: ' (where it is as new as the server)' };

describeWith(['openssl'], 'a service that is restored', () => {
  let models: CountingModelServer;
  let tools: FakeModelServer;
  let folder: string;
  let temporal: Temporal;

  before(async () => {
    models = await startCountingModelServer(0);
    tools = await startFakeModelServer();
    folder = mkdtempSync(path.join(tmpdir(), 'weir-restore-'));
    temporal = await startTemporal({ stateFolder: folder, durable: false });
  });
  after(async () => {
    await models.close();
    await tools.close();
    await temporal.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const [name, carryOver] of Object.entries(WAYS))
    it(`with ${name}${NEEDS[name] ?? ''} into an empty Temporal ends all that was accepted, and repeats only what came later`, async function () {
      if (name === 'pg_dump' && !(await isDumpNewEnough())) return this.skip();
      models.asked.clear();
      const env = { DEMO_BASE_URL: models.url, OPENAI_BASE_URL: tools.provider.baseUrl };
      const first = await startWebhookWeir({ env });
      const target = await createEmptyDatabase();
      try {
        const work = await beginWork(first, { counting: models, tools });
        await carryOver(first.config.databaseUrl, path.join(folder, name), target.url, work.end);
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
    }).timeout(TIMEOUT_MS);

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

async function createEmptyDatabase(): Promise<{ db: Db; url: string; drop(): Promise<void> }> {
  const url = new URL(process.env.TEST_DATABASE_URL as string);
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

/** pg_dump refuses servers that are newer than itself. */
async function isDumpNewEnough(): Promise<boolean> {
  const { stdout, status } = spawnSync('pg_dump', ['--version'], { encoding: 'utf8' });
  if (status !== 0) return false;
  const admin = connect(process.env.TEST_DATABASE_URL as string, 1);
  const { rows } = await sql<{ server_version_num: string }>`show server_version_num`.execute(admin);
  await admin.destroy();
  return Number(/\d+/.exec(stdout)?.[0]) >= Math.floor(Number(rows[0]?.server_version_num) / 10_000);
}
