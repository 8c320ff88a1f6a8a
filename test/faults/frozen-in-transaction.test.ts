// A process that stands still in the middle of its transactions: what these have locked is let go.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { llm } from '../blocks.ts';
import { lockWaiters } from '../db/lock-waiters.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { startApiProcess } from './api-process.ts';
import type { Program } from './processes.ts';

describe('an API that is frozen in the middle of its transactions', () => {
  let models: CountingModelServer;
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  let api: Program & { url: string };
  before(async () => {
    models = await startCountingModelServer(0);
    weir = await startWeir({ env: { DEMO_BASE_URL: models.url, WEIR_HEARTBEAT_TIMEOUT: '5' } });
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [llm('ask', 'ask {{message}}', 'demo/chat')]);
    api = await startApiProcess(weir);
  });
  after(async () => {
    await api.kill();
    await weir.stop();
    await models.close();
  });

  it('lets paid runs of the organization go on, and a repeated Idempotency-Key be answered', async () => {
    const job = { key: tenant.key, headers: { 'idempotency-key': randomUUID() }, body: { message: 'keyed' } };
    const start = (url?: string) => weir.call('POST', `${flow}/jobs`, { ...job, url });
    const rotate = (url?: string) => {
      const path = `/organizations/${tenant.organizationId}/webhooks/secret/rotate`;
      return weir.call('POST', path, { key: tenant.key, url });
    };
    const { answers } = await weir.db.transaction().execute(async (tx) => {
      await sql`lock table run, audit_entry in share mode`.execute(tx);
      // Holds the key, and the organization.
      const answers = Promise.all([start(api.url), rotate(api.url)]);
      await lockWaiters(weir.db, 2);
      process.kill(api.pid, 'SIGSTOP');
      return { answers };
    });
    const paid = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'paid' } });
    assert.equal(paid.status, 200);
    await waitUntil(async () => (await start()).status === 202);
    process.kill(api.pid, 'SIGCONT');
    // By now it has nothing locked, and may have given up its statements as too slow, or repeat what was lost.
    for (const { status } of await answers) assert.ok([200, 202, 503].includes(status), String(status));
  });
});
