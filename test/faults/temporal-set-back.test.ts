// A machine loses its power: Temporal, which does not wait for the disk, is set back by some seconds; PostgreSQL is not.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { reconcileRuns } from '../../worker/reconciler/reconcile-runs.ts';
import { resumeOf, toolCall, weather } from '../api/runs/tool-calls-harness.ts';
import { statusIs } from '../api/webhooks/deliveries-fixture.ts';
import { code, llm, passthrough } from '../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { answer, callTools, type FakeModelServer, startFakeModelServer } from '../fakes/model-server.ts';
import type { WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { startWeir, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { startWebhookWeir, type WebhookWeir } from '../webhooks.ts';
import { describeWith } from '../where-available.ts';
import { auditRuns } from './audit-runs.ts';
import { startProgram } from './processes.ts';
import { type SetBackTemporal, startSetBackTemporal } from './set-back-temporal.ts';
import { beginWork, checkCallers, type WorkUnderWay } from './work-under-way.ts';

const TIMEOUT_MS = 600_000;

describeWith(['openssl'], 'a Temporal that is set back', () => {
  let models: CountingModelServer;
  let tools: FakeModelServer;
  let temporal: SetBackTemporal;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    models = await startCountingModelServer(100);
    tools = await startFakeModelServer();
  });
  after(async () => {
    await models.close();
    await tools.close();
  });
  beforeEach(async () => {
    models.asked.clear();
    temporal = await startSetBackTemporal();
    env = {
      TEMPORAL_ADDRESS: temporal.address,
      DEMO_BASE_URL: models.url,
      OPENAI_BASE_URL: tools.provider.baseUrl,
      WEIR_HEARTBEAT_TIMEOUT: '5',
    };
  });
  afterEach(() => temporal.stop());

  const countOpen = async ({ client }: Weir) =>
    (await client.workflow.count("ExecutionStatus = 'Running'")).count;

  it('makes nothing again that has ended since, and goes on with what waits', async () => {
    const weir = await startWebhookWeir({ env });
    try {
      const deps = { db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue };
      const work = await beginWork(weir, { counting: models, tools });
      const { paused, runs, tenant } = work;
      const { key } = tenant;
      const { flow } = runs.waiting as { flow: string };
      const start = async (message: string): Promise<string> =>
        (await weir.call('POST', `${flow}/jobs`, { key, body: { message } })).body.executionId;
      const cancelled = await start('cancelled');
      const terminated = await start('terminated');
      await waitUntil(async () => (await countOpen(weir)) >= 8);
      await temporal.copy();

      await work.end();
      await weir.call('POST', `${flow}/jobs/${cancelled}/cancel`, { key });
      await weir.client.workflow.getHandle(terminated).terminate();
      await weir.startWorker();
      await endWork(weir, work);
      await reconcileRuns(deps, 0);
      await weir.finish(flow, terminated, key);
      await weir.startJob(tenant, flow, weir.hooks[0] as WebhookReceiver, { message: 'later' });
      await weir.deliveryWhen(tenant, statusIs('succeeded'));
      tools.will(callTools([toolCall('b')]));
      const body = { message: 'later', tools: [weather] };
      const later = (await weir.call('POST', `${paused.flow}/execute`, { key, body })).body;
      await waitUntil(async () => (await countOpen(weir)) === 0);

      await weir.stopWorker();
      const made = await whatWasMade(weir);
      await temporal.setBack();
      assert((await countOpen(weir)) >= 8, 'the copy has nothing under way');
      await weir.startWorker();
      await weir.pendingAttempt(work.deliveryId, 3);
      await weir.attemptNow(work.deliveryId);
      await waitUntil(async () => (await countOpen(weir)) === 0);
      assert.deepEqual(await whatWasMade(weir), made);

      tools.will(answer('done'));
      const resumed = await weir.call('POST', `${paused.flow}/execute`, { key, body: resumeOf(later) });
      assert.equal(resumed.body.status, 'completed', JSON.stringify(resumed.body));
    } finally {
      await weir.stop();
    }
  }).timeout(TIMEOUT_MS);

  /** Ends what `beginWork` began. */
  async function endWork(weir: WebhookWeir, work: WorkUnderWay): Promise<void> {
    await weir.pendingAttempt(work.deliveryId, 3);
    await weir.attemptNow(work.deliveryId);
    await weir.deliveryWhen(work.tenant, statusIs('succeeded'), work.deliveryId);
    await checkCallers(weir, work, tools);
    for (const { flow, executionId } of Object.values(work.runs))
      assert.equal((await weir.finish(flow, executionId, work.tenant.key)).body.status, 'completed');
  }

  /** Everything that a run, a charge or a delivery leaves in the database and in the world. */
  async function whatWasMade({ db, hooks }: WebhookWeir): Promise<object> {
    const rows = async (table: string) =>
      (await sql`select * from ${sql.table(table)}`.execute(db)).rows
        .map((row) => JSON.stringify(row))
        .sort();
    return {
      runs: await rows('run'),
      blocks: await rows('block_run'),
      charges: await rows('ledger_entry'),
      reserved: await rows('reservation'),
      balances: await rows('organization'),
      deliveries: await rows('webhook_delivery'),
      attempts: await rows('webhook_attempt'),
      testResults: await rows('test_result'),
      asked: [...models.asked],
      received: hooks.map(({ received }) => received.length),
    };
  }

  it('ends all that was accepted before and since, each once, when its service was killed at work', async () => {
    const weir = await startWeir({ env, worker: false });
    const serve = () => startProgram(weir, 'api/serve-with-worker.ts', env);
    let service = await serve();
    try {
      const tenant = await weir.createTenant({ credits: 100_000 });
      const flow = await weir.createFlow(tenant, [
        code('tag', 'return message;'),
        llm('one', 'one {{previous_output}}', 'demo/chat'),
        passthrough('keep'),
        llm('two', 'two {{previous_output}}', 'demo/chat'),
      ]);
      const url = /http:\S+(?=\/api\/v1)/.exec(service.ready)?.[0] as string;
      const accept = async () => {
        const body = { message: randomUUID() };
        const { status, body: accepted } = await weir.call('POST', `${flow}/jobs`, {
          key: tenant.key,
          body,
          url,
        });
        assert.equal(status, 202);
        return accepted.executionId as string;
      };
      const burst = () => Promise.all(Array.from({ length: 20 }, accept));
      const ids = await burst();
      // The first are in every part of their flow.
      await waitUntil(() => [...models.asked.keys()].some((prompt) => prompt.startsWith('two ')));
      ids.push(...(await burst()));
      await temporal.copy();
      ids.push(...(await burst()));
      await weir.finish(flow, ids.at(-1) as string, tenant.key);
      ids.push(...(await burst()));
      await service.kill();
      const { rows: recorded } = await sql<{ prompt: string }>`
        select substring(output #>> '{}' from 'answer to (.*)') as prompt from block_run
        where processor_type = 'llm' and status = 'completed'`.execute(weir.db);
      assert(recorded.length > 0);
      await temporal.setBack();
      service = await serve();
      await auditRuns(weir, tenant, flow, ids, { blocks: 4, charged: 2 });
      for (const { prompt } of recorded) assert.equal(models.asked.get(prompt), 1, prompt);
      await waitUntil(async () => (await countOpen(weir)) === 0);
    } finally {
      await service.kill();
      await weir.stop();
    }
  }).timeout(TIMEOUT_MS);
});
